package localserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const postgresInstallHint = "install it: apt-get install postgresql (Debian, Ubuntu), " +
	"dnf install postgresql-server (Fedora), apk add postgresql (Alpine), brew install postgresql (macOS)"

// postgresFolders are where systems put the programs of each version, not in PATH.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
}

// postgresPrograms finds the folder with initdb and postgres and checks their version.
func postgresPrograms(ctx context.Context, o PostgresOptions) (string, error) {
	for _, dir := range postgresCandidates(o.Bin) {
		if !hasPostgres(dir) {
			continue
		}
		return dir, checkPostgresVersion(ctx, filepath.Join(dir, "postgres"))
	}
	return "", fmt.Errorf("postgres is %w: %s", ErrMissing, postgresInstallHint)
}

// postgresCandidates lists folders to look into, the best first.
func postgresCandidates(bin string) []string {
	if bin != "" {
		return []string{bin}
	}
	var dirs []string
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			dirs = append(dirs, filepath.Dir(initdb))
		}
	}
	var found []string
	for _, pattern := range postgresFolders {
		// The only error is that of a malformed pattern.
		matches, _ := filepath.Glob(pattern)
		found = append(found, matches...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return slices.Compare(folderVersion(b), folderVersion(a)) })
	return append(dirs, found...)
}

// folderVersion finds 15 in "/usr/lib/postgresql/15/bin".
func folderVersion(dir string) []int {
	digits := func(r rune) bool { return (r < '0' || r > '9') && r != '.' }
	version := ""
	for _, word := range strings.FieldsFunc(dir, digits) {
		if word[0] != '.' {
			version = word
		}
	}
	return parseVersion(version)
}

// parseVersion reads dotted numbers; a part that is no number counts 0.
func parseVersion(text string) (parts []int) {
	for part := range strings.SplitSeq(text, ".") {
		n, _ := strconv.Atoi(part)
		parts = append(parts, n)
	}
	return parts
}

func hasPostgres(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o111 == 0 {
			return false
		}
	}
	return true
}

func checkPostgresVersion(ctx context.Context, program string) error {
	const lowest = 12
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return fmt.Errorf("asking %s for its version: %w", program, err)
	}
	// "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"
	version := ""
	if words := strings.Fields(string(out)); len(words) > 2 {
		version = words[2]
	}
	if parseVersion(version)[0] < lowest {
		return fmt.Errorf("%s is version %q: %w: %d or newer is needed", program, version, ErrTooOld, lowest)
	}
	return nil
}

func isCluster(data string) bool {
	_, err := os.Stat(filepath.Join(data, "PG_VERSION"))
	return err == nil
}

// makeCluster fills the data folder, with a fresh cluster or with a copy of the primary's.
func (p *Postgres) makeCluster(ctx context.Context) error {
	if err := p.guard.user.folder(p.data()); err != nil {
		return err
	}
	program, args := "initdb", []string{
		"-D", p.data(), "-U", superuser, "-E", "UTF8", "--locale=C", "-A", p.method(), "--no-sync", "--wal-segsize=1",
	}
	if p.options.Password != "" {
		secret := p.file("password")
		if err := p.guard.user.write(secret, []byte(p.options.Password+"\n")); err != nil {
			return err
		}
		defer os.Remove(secret)
		args = append(args, "--pwfile", secret)
	}
	if primary := p.options.StandbyOf; primary != nil {
		program, args = "pg_basebackup", []string{
			"-D", p.data(), "-d", primary.URL(), "-R", "-X", "stream", "--checkpoint=fast", "--no-sync",
		}
	}
	return p.runTool(ctx, program, args...)
}

// runTool runs one of the server's programs to its end, under the guard.
func (p *Postgres) runTool(ctx context.Context, program string, args ...string) error {
	name := p.file(program + ".log")
	log, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	proc, err := startProcess(ctx, p.guard, log, filepath.Join(p.bin, program), args...)
	if err != nil {
		return err
	}
	select {
	case <-proc.done:
	case <-ctx.Done():
		proc.kill()
		return fmt.Errorf("running %s: %w", program, ctx.Err())
	}
	if state := proc.cmd.ProcessState; state == nil || !state.Success() {
		return fmt.Errorf("running %s: %w: %s", program, errExited, logTail(name))
	}
	return nil
}

// method is how clients prove who they are.
func (p *Postgres) method() string {
	if p.options.Password != "" {
		return "scram-sha-256"
	}
	return "trust"
}

func (p *Postgres) certify() error {
	var err error
	if p.files, _, err = writeCertificates(p.guard.dir); err != nil {
		return err
	}
	for _, name := range []string{serverCertFile, serverKeyFile} {
		if err := p.guard.user.own(p.file(name)); err != nil {
			return err
		}
	}
	return nil
}

// configureLocked writes the configuration files. Dynamic shared memory goes into the data
// folder, where it vanishes with it.
func (p *Postgres) configureLocked() error {
	var b bytes.Buffer
	set := func(name, value string) {
		fmt.Fprintf(&b, "%s = '%s'\n", name, strings.ReplaceAll(value, "'", "''"))
	}
	set("listen_addresses", strings.Join(append([]string{loopback}, p.options.Listen...), ","))
	set("port", strconv.Itoa(p.port))
	set("unix_socket_directories", "")
	set("max_connections", "200")
	set("shared_buffers", "8MB")
	set("dynamic_shared_memory_type", "mmap")
	set("max_wal_size", "32MB")
	set("min_wal_size", "2MB")
	set("fsync", "off")
	set("synchronous_commit", "off")
	set("full_page_writes", "off")
	set("autovacuum", "off")
	set("jit", "off")
	set("hot_standby", "on")
	if p.options.TLS {
		set("ssl", "on")
		set("ssl_cert_file", p.file(serverCertFile))
		set("ssl_key_file", p.file(serverKeyFile))
	}
	for _, line := range p.options.Config {
		fmt.Fprintln(&b, line)
	}
	if err := p.guard.user.write(filepath.Join(p.data(), "postgresql.conf"), b.Bytes()); err != nil {
		return err
	}
	kind, rules := "host", ""
	if p.options.TLS {
		kind = "hostssl"
	}
	for _, database := range []string{"all", "replication"} {
		rules += fmt.Sprintf("%s %s all %s/32 %s\n", kind, database, loopback, p.method())
		if len(p.options.Listen) > 0 {
			rules += fmt.Sprintf("%s %s all samenet %s\n", kind, database, p.method())
		}
	}
	return p.guard.user.write(filepath.Join(p.data(), "pg_hba.conf"), []byte(rules))
}

// postmasterReady reports whether the pid file is that of process pid, which accepts
// connections: line 1 is the id, line 8 the state (src/include/utils/pidfile.h).
func postmasterReady(file string, pid int) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 8 || strings.TrimSpace(lines[0]) != strconv.Itoa(pid) {
		return false
	}
	state := strings.TrimSpace(lines[7])
	return state == "ready" || state == "standby"
}

// setUpLocked makes the databases and runs the statements that the options ask for. Its
// connection also proves that the superuser can get in.
func (p *Postgres) setUpLocked(ctx context.Context) error {
	conn, err := pgconn.Connect(ctx, p.urlAt(address(p.port), superuser, p.options.Password, "postgres"))
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	statements := slices.Clone(p.options.Setup)
	for _, name := range p.options.Databases {
		statements = append(statements, "create database "+pgx.Identifier{name}.Sanitize())
	}
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			return errors.Join(fmt.Errorf("setting it up: %w", err), conn.Close(ctx))
		}
	}
	return conn.Close(ctx)
}
