package localserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

const postgresInstallHint = "install it: apt-get install postgresql (Debian, Ubuntu), " +
	"dnf install postgresql-server (Fedora), apk add postgresql (Alpine), brew install postgresql (macOS)"

// postgresFolders lists the folders, outside PATH, in which systems install the programs of each version.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
}

// postgresPrograms returns the folder with initdb and postgres. It checks only bin, if that is not "".
func postgresPrograms(bin string) (string, error) {
	dirs := []string{bin}
	if bin == "" {
		dirs = postgresCandidates()
	}
	for _, dir := range dirs {
		_, err1 := exec.LookPath(filepath.Join(dir, "initdb"))
		_, err2 := exec.LookPath(filepath.Join(dir, "postgres"))
		if err1 == nil && err2 == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("postgres is %w: %s", ErrMissing, postgresInstallHint)
}

// postgresCandidates lists folders to search: that of the initdb in PATH, then postgresFolders, the newest version
// first.
func postgresCandidates() []string {
	var first, found []string
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			first = append(first, filepath.Dir(initdb))
		}
	}
	for _, pattern := range postgresFolders {
		matches, _ := filepath.Glob(pattern) // the only error is a malformed pattern
		found = append(found, matches...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(folderVersion(b), folderVersion(a)) })
	return append(first, found...)
}

// folderVersion returns the version in the path of a folder: 15 for "/usr/lib/postgresql/15/bin".
func folderVersion(dir string) int {
	n, _ := strconv.Atoi(strings.Trim(dir, "/abcdefghijklmnopqrstuvwxyz-@")) // 0 without a number
	return n
}

// makeCluster fills the data folder, if it is empty, with a fresh cluster or with a copy of the
// primary's.
func (p *Postgres) makeCluster(ctx context.Context) error {
	if p.options.TLS {
		if err := p.certify(); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(p.data(), "PG_VERSION")); err == nil {
		return nil
	}
	p.fresh = p.options.StandbyOf == nil
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
		_ = syscall.Kill(-proc.pid(), syscall.SIGKILL) // its children would continue to write
		proc.kill()
		return fmt.Errorf("running %s: %w", program, ctx.Err())
	}
	if state := proc.cmd.ProcessState; state == nil || !state.Success() {
		return fmt.Errorf("running %s: %w: %s", program, errExited, logTail(name))
	}
	return nil
}

// method returns the authentication method in pg_hba.conf.
func (p *Postgres) method() string {
	if p.options.Password != "" {
		return "scram-sha-256"
	}
	return "trust"
}

func (p *Postgres) certify() (err error) {
	if p.files, _, err = writeCertificate(p.guard.dir); err != nil {
		return err
	}
	return errors.Join(p.guard.user.own(p.files.Cert), p.guard.user.own(p.files.Key))
}

// configureLocked writes the configuration files. Dynamic shared memory is in the data folder, so that it is removed
// with the folder.
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
		set("ssl_cert_file", p.files.Cert)
		set("ssl_key_file", p.files.Key)
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

// postmasterReady reports whether process pid accepts connections, according to the pid file. Line 1 is the id, line 8
// the state (src/include/utils/pidfile.h).
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

// setUpLocked runs the statements of the options. Its connection also proves that the superuser can log in.
func (p *Postgres) setUpLocked(ctx context.Context) error {
	if !p.fresh {
		return nil
	}
	conn, err := pgconn.Connect(ctx, p.urlAt(address(p.port), superuser, p.options.Password, "postgres"))
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	for _, sql := range p.options.Setup {
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			return errors.Join(fmt.Errorf("setting it up: %w", err), conn.Close(ctx))
		}
	}
	return conn.Close(ctx)
}
