package pgsource

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math"

	"coordtop/coord/pgcoord"
)

// The keys that programs are known to use, from their source code. If several use one key, all that match are named.
var (
	storage = program{name: "Supabase Storage migrations", hint: "storage"}
	tenants = program{name: "Supabase Storage multitenant migrations", hint: "storage"}
	job     = program{name: "Que, the number of a job", hint: "que", weak: true}
	state   = program{name: "Terraform, the number of a state", hint: "terraform", weak: true}
)

// oneNumber has exact keys of pg_advisory_lock(bigint).
var oneNumber = map[int64][]program{
	72707369:             {{name: "Prisma Migrate", hint: "prisma"}},
	4097083626:           {{name: "Goose", hint: "goose"}},
	2686470616:           {{name: "Atlas migrate apply", hint: "atlas"}},
	361947982:            {{name: "Atlas migrate diff", hint: "atlas"}},
	526800194:            {{name: "Atlas lint", hint: "atlas"}},
	9628173550095224:     {{name: "tern", hint: "tern"}},
	7241865325823964:     {{name: "node-pg-migrate", hint: "migrate"}},
	3853314791062309107:  {{name: "Kysely migrator", hint: "kysely"}},
	-8525285245963000605: {{name: "postgres-migrations", hint: "postgres-migrations"}, storage},
	-8575985245963000605: {tenants},
	-8575985245963001000: {tenants},
	77433833903597:       {{name: "Flyway (public.flyway_schema_history)", hint: "flyway"}},
	-988976779:           {{name: "pg_partman run_maintenance", hint: "partman"}},
	-1853951700:          {{name: "pg_partman run_maintenance procedure", hint: "partman"}},
	-1768572819:          {{name: "Electric (electric_slot_default)", hint: "electric"}},
	12340078987004321:    {{name: "pgBackRest", hint: "pgbackrest"}},
	1000:                 {{name: "Authentik migrations", hint: "authentik", weak: true}, job, state},
	4444:                 {{name: "Marten daemon", hint: "marten", weak: true}, job, state},
	-1:                   {{name: "Terraform workspace creation", hint: "terraform", weak: true}},
	1: {coder("setup"), {name: "Airflow migrations", hint: "airflow", weak: true},
		{name: "SpiceDB garbage collection", hint: "spicedb", weak: true}, job, state},
	2: {coder("enterprise setup"), {name: "Airflow scheduler", hint: "airflow", weak: true},
		{name: "SpiceDB revision heartbeat", hint: "spicedb", weak: true}, job, state},
	3:  {coder("rollup"), job, state},
	4:  {coder("purge"), job, state},
	5:  {coder("notification report"), concourse("migration"), job, state},
	6:  {coder("crypto key rotation"), concourse("resource scanning"), job, state},
	7:  {coder("prebuild reconcile"), job, state},
	8:  {coder("system roles"), job, state},
	9:  {coder("boundary usage"), job, state},
	10: {coder("chat cron"), job, state},
}

func coder(what string) program { return program{name: "Coder " + what, hint: "coder", weak: true} }
func concourse(what string) program {
	return program{name: "Concourse " + what, hint: "concourse", weak: true}
}

// twoNumbers has exact keys of pg_advisory_lock(int4, int4).
var twoNumbers = map[[2]int32][]program{
	{-755096828, -977423767}:  {{name: "liquibase-sessionlock (public.DATABASECHANGELOGLOCK)", hint: "liquibase"}},
	{-1497367772, -977423767}: {{name: "liquibase-sessionlock (public.databasechangeloglock)", hint: "liquibase"}},
}

// concourseTypes has the first numbers of Concourse's keys; the second number is an id.
var concourseTypes = map[int32]string{
	0: "resource config check", 1: "build tracking", 2: "batch", 3: "volume creating", 4: "container creating",
	7: "job scheduling", 8: "in-memory check", 9: "resource get", 10: "volume streaming",
}

const (
	repackClass = 16185446
	flywayBase  = 77431708279161 // "Flyway" in ASCII, to which Java's hashCode of the history table's name is added
)

// wellKnown returns the programs that use a key in a database.
func wellKnown(database string, k pgcoord.Key) []program {
	if n, ok := k.Bigint(); ok {
		list := append(byDatabase(database, n), oneNumber[n]...)
		if d := n - flywayBase; d >= math.MinInt32 && d <= math.MaxInt32 && oneNumber[n] == nil {
			list = append(list, program{name: "Flyway", hint: "flyway"})
		}
		return list
	}
	if a, b, ok := k.Pair(); ok {
		return byPair(a, b)
	}
	switch {
	case k.Sub >= 4 && k.Sub <= 16 && k.Sub != 11:
		return []program{{name: "Citus", hint: "citus", wide: true}}
	case k.Sub == 29749:
		return []program{{name: "TimescaleDB", hint: "timescale", wide: true}}
	}
	return nil
}

// byDatabase returns the programs that compute the key n from the database's name and their default names of schema and
// table.
func byDatabase(database string, n int64) []program {
	const migrateSalt, railsSalt, sqlxSalt = 1486364155, 2053462845, 0x3d32ad9e
	crc := func(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }
	boss := sha256.Sum224([]byte(database + ".pgboss.pgboss"))
	var list []program
	for _, c := range []struct {
		key     int64
		program program
	}{
		{railsSalt * int64(crc(database)), program{name: "Rails migrations", hint: "rails"}},
		{int64(crc("public\x00schema_migrations\x00"+database) * migrateSalt), program{name: "golang-migrate", hint: "migrate"}},
		{int64(crc("public\x00schema_migrations\x00/"+database) * migrateSalt), program{name: "golang-migrate", hint: "migrate"}}, // from the path of its URL
		{int64(crc(database) * migrateSalt), program{name: "Grafana migrations", hint: "grafana", weak: true}},
		{int64(crc(database) * migrateSalt), program{name: "golang-migrate", hint: "migrate", weak: true}}, // by versions that did not hash the table
		{int64(crc("/"+database) * migrateSalt), program{name: "golang-migrate", hint: "migrate", wide: true}},
		{sqlxSalt * int64(crc(database)), program{name: "sqlx migrate", hint: "sqlx"}},
		{int64(binary.BigEndian.Uint64(boss[:8])), program{name: "pg-boss", hint: "boss"}},
	} {
		if c.key == n {
			list = append(list, c.program)
		}
	}
	return list
}

func byPair(a, b int32) []program {
	if list, ok := twoNumbers[[2]int32{a, b}]; ok {
		return list
	}
	if a == repackClass {
		return []program{{name: "pg_repack of the table with oid " + utoa(uint32(int64(b)+1<<31)), hint: "repack"}}
	}
	if what, ok := concourseTypes[a]; ok && b > 0 {
		return []program{concourse(what)}
	}
	return nil
}
