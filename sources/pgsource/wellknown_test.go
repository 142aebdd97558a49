package pgsource

import (
	"strings"
	"testing"

	"coordtop/coord/pgcoord"
)

// The numbers are those of facts/postgres.md, section 6.
func TestWellKnownKeysAreShownAsText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, database, hint, want string
	}{
		{"72707369", "app", "", "Prisma Migrate"},
		{"1235955690063948105", "myapp_test", "", "Rails migrations"},
		{"143310882", "postgres", "", "golang-migrate"},
		{"4004004031", "grafana", "", ""}, // golang-migrate took the same
		{"4004004031", "grafana", "grafana", "likely Grafana migrations"},
		{"4004004031", "grafana", "migrate", "likely golang-migrate"},
		{"1726534663", "app", "", "golang-migrate"}, // from the URL's path, "/app"
		{"198434227", "app", "", "likely golang-migrate"},
		{"77433833903597", "app", "", "Flyway (public.flyway_schema_history)"},
		{"77431708279162", "app", "", "Flyway"},
		{"4097083626", "app", "", "Goose"},
		{"2686470616", "app", "", "Atlas migrate apply"},
		{"9628173550095224", "app", "", "tern"},
		{"368907709894077238", "postgres", "", "sqlx migrate"},
		{"7241865325823964", "app", "", "node-pg-migrate"},
		{"3853314791062309107", "app", "", "Kysely migrator"},
		{"-6933726825547352964", "postgres", "", "pg-boss"},
		{"-8525285245963000605", "app", "", "likely postgres-migrations or Supabase Storage migrations"},
		{"-8525285245963000605", "app", "storage", "likely Supabase Storage migrations"},
		{"-988976779", "app", "", "pg_partman run_maintenance"},
		{"-755096828:-977423767", "app", "", "liquibase-sessionlock (public.DATABASECHANGELOGLOCK)"},
		{"16185446:-2147467264", "app", "", "pg_repack of the table with oid 16384"},
		{"1", "app", "", ""},
		{"3", "app", "", ""},
		{"3", "app", "coder", "likely Coder rollup"},
		{"3", "app", "que", "likely Que, the number of a job"},
		{"1000", "app", "", ""},
		{"-1", "app", "", ""},
		{"1:42", "app", "", ""},
		{"1", "app", "airflow", "likely Airflow migrations"},
		{"1", "app", "coder", "likely Coder setup"},
		{"17:4/9", "app", "", "likely Citus"},
		{"1:42", "app", "concourse", "likely Concourse build tracking"},
		{"143310882", "other", "", ""},
		{"4242", "app", "", ""},
	} {
		key, _, err := pgcoord.ParseKey(c.key)
		noError(t, err)
		got := ""
		if known := wellKnown(c.database, key); len(known) > 0 {
			got = aliasText(known, func(hint string) bool { return c.hint != "" && hint == c.hint })
		}
		if got != c.want {
			t.Errorf("%s in %s, hint %q: %q, want %q", c.key, c.database, c.hint, got, c.want)
		}
	}
}

func TestKeyThatSpellsTextShowsIt(t *testing.T) {
	t.Parallel()
	packed := func(text string) pgcoord.Key {
		var n uint64
		for _, c := range []byte(text) {
			n = n<<7 | uint64(c)
		}
		n <<= 1
		for range 9 - len(text) {
			n = n<<7 | 0x7f
		}
		return pgcoord.Key{Class: uint32(n >> 32), Object: uint32(n), Sub: 2}
	}
	for _, c := range []struct {
		key  pgcoord.Key
		want string
	}{
		{pgcoord.BigintKey(0x6c6564676572), `ASCII "ledger"`},
		{pgcoord.BigintKey(0x6c65), ""},
		{pgcoord.BigintKey(0x6c650067), ""},
		{pgcoord.BigintKey(-1), ""},
		{packed("ab"), `likely DistributedLock "ab"`},
		{packed("compactor"), `likely DistributedLock "compactor"`},
		{packed("a\x1b]0;x"), ""},
		{pgcoord.PairKey(17, 4), ""},
		{pgcoord.Key{Class: 1, Object: 2, Sub: 9}, ""},
	} {
		if got := spelled(c.key); got != c.want {
			t.Errorf("%v: %q, want %q", c.key, got, c.want)
		}
	}
	for _, text := range []string{strings.Repeat("x", 9), "x", ""} {
		k := packed(text)
		if got := unpack7(uint64(k.Class)<<32 | uint64(k.Object)); string(got) != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

func TestHintsAreWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"que", "que", true}, {"select * from que_jobs", "que", true}, {"sequelize", "que", false}, {"the queue", "que", false},
		{"decoder-svc", "coder", false}, {"coderd", "coder", true}, {"decoder of coder", "coder", true}, {"pg_partman", "partman", true},
		{"billing-svc", "concourse", false}, {"", "que", false}, {"que", "terraform", false},
	} {
		if got := hasWord(c.text, c.word); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.text, got)
		}
	}
}
