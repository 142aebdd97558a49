package app

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/config"
	"coordtop/internal/job"
)

func TestMain(m *testing.M) {
	if code, was := job.Watchdog(); was {
		os.Exit(code)
	}
	if os.Getenv(child) != "" {
		if load := os.Getenv(loaded); load != "" {
			if err := boardUnder(load); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(exitError)
			}
			return
		}
		env := mined(OS(""), os.Getenv(mine))
		env.Loopback = loopbackOf(os.Getenv(loopback))
		os.Exit(Main(env))
	}
	if ignored := slices.DeleteFunc(requests(), func(s os.Signal) bool { return !signal.Ignored(s) }); len(ignored) > 0 {
		signal.Notify(make(chan os.Signal, 1), ignored...) // under nohup: the programs of the tests must not inherit that
	}
	ydbcoord.LogTo(slog.New(slog.DiscardHandler)) // before gRPC is used, as it asks
	runMoreAtOnce()
	// Bubble Tea leaves its timers to end by themselves, within a second.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("charm.land/bubbletea/v2.Every.func1"))
}

// runMoreAtOnce lets more tests run at once than there are cores, unless -parallel says how many:
// they wait for servers and for other processes more than they compute.
func runMoreAtOnce() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))) // it is a number
	}
}

// longEnough bounds every wait for an event, so that a broken program does not hang: a good run
// never comes near it, also on a machine that has ten times too much to do.
const longEnough = 2 * time.Minute

// stream collects what a command writes while it still runs.
type stream struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	wrote chan struct{} // capacity 1
}

func newStream() *stream { return &stream{wrote: make(chan struct{}, 1)} }

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return s.buf.Write(b)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// await waits until what was written satisfies ok.
func (s *stream) await(t *testing.T, ok func(string) bool) string {
	t.Helper()
	bound := time.NewTimer(longEnough)
	defer bound.Stop()
	for {
		text := s.String()
		if ok(text) {
			return text
		}
		select {
		case <-s.wrote:
		case <-bound.C:
			t.Fatalf("never came: %q", text)
		}
	}
}

// world is an Environment of a test.
type world struct {
	home           string
	vars           map[string]string
	stdout, stderr *stream
	tty, deaf      bool // whether Stdout is a terminal; whether Stdin can bring no keys
	record         bool // see Environment
	exit           func(code int)
	example        string
	wrapDriver     func(coord.Driver) coord.Driver
	fits           func(out io.Writer, args []string) io.Writer // see fitsSchema
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{
		home: t.TempDir(), vars: map[string]string{}, stdout: newStream(), stderr: newStream(), example: "example\n", fits: fitsSchema(t),
		exit: func(int) { panic("a command did not come back") },
	}
}

// main runs the program until it ends; the end of ctx is a signal.
func (w *world) main(ctx context.Context, args ...string) int {
	return w.mainTo(ctx, w.stdout, args...)
}

func (w *world) mainTo(ctx context.Context, stdout io.Writer, args ...string) int {
	vars := map[string]string{"HOME": w.home}
	for k, v := range w.vars {
		vars[k] = v
	}
	return Main(Environment{
		Args: args, Stdin: strings.NewReader(""), Stdout: w.fits(stdout, args), Stderr: w.stderr, Example: w.example, wrapDriver: w.wrapDriver, Record: w.record,
		Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		Environ:  []string{"TERM=xterm"},
		Terminal: func() bool { return w.tty },
		Keyboard: func() bool { return !w.deaf },
		Signals: func(context.Context) (context.Context, <-chan *signalled, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			return ctx, nil, cancel
		},
		Exit: w.exit,
	})
}

// write makes a file below the home directory.
func (w *world) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(w.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const configFile = ".config/coordtop/config.yaml"

func TestWhatCannotBeObeyedIsSaidInASentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		vars   map[string]string
		config string
		code   int
		stderr []string
		not    string
	}{
		{
			name: "nothing at all", code: 2,
			stderr: []string{"nothing to watch", "$COORDTOP_CONFIG", ".config/coordtop/config.yaml", "not there", "$REDIS_URL", "$DATABASE_URL",
				"$PGHOST", "$YDB_CONNECTION_STRING", "\n  coordtop demo\n", "\n  coordtop redis://localhost:6379/0\n", "\n  coordtop postgres://user@localhost/database\n", "\n  coordtop grpc://localhost:2136/local\n", "coordtop config example >"},
		},
		{name: "nothing for get", args: []string{"get"}, code: 2, stderr: []string{"nothing to watch"}},
		{name: "nothing for watch", args: []string{"watch"}, code: 2, stderr: []string{"nothing to watch"}},
		{
			name: "variables of others", vars: map[string]string{"YDB_CONNECTION_STRING": "http://h/x?token=hunter2", "DATABASE_URL": "mysql://u:hunter2@h/db"}, code: 2,
			stderr: []string{"set, but not to grpc://... or grpcs://...", "set, but not to postgres://"}, not: "hunter2",
		},
		{name: "no tty", args: []string{"redis://h"}, code: 2, stderr: []string{"no terminal", "coordtop get", "coordtop watch"}},
		{name: "a typo of a command", args: []string{"wacth"}, code: 2, stderr: []string{`did you mean watch?`}},
		{name: "neither command nor URL", args: []string{"localhost:6379"}, code: 2, stderr: []string{"argument 1 is neither a command", "its scheme, redis://", "postgres://"}},
		{name: "a URL without its scheme", args: []string{"get", "localhost:6379"}, code: 2, stderr: []string{"argument 1 is neither a URL nor a name", "its scheme, redis://, rediss:// (TLS), valkey://, valkeys:// (TLS), redis+sentinel://, unix:///PATH (Redis), postgres://, grpc://, grpcs:// (YDB), dflockd:// or dflockds:// (TLS)"}},
		{name: "a URL without its scheme for watch", args: []string{"watch", "localhost:5432/db"}, code: 2, stderr: []string{"argument 1 is neither a URL nor a name", "its scheme, redis://", "there is no config file"}},
		{name: "a word for a port", args: []string{"demo", "--redis-port", "abc"}, code: 2, stderr: []string{`--redis-port takes a whole number; see coordtop demo --help`}, not: "strconv"},
		{name: "a word for a seed", args: []string{"demo", "--seed", "-1"}, code: 2, stderr: []string{`--seed takes a whole number from 0 on; see`}, not: "strconv"},
		{name: "an unknown flag", args: []string{"get", "--color"}, code: 2, stderr: []string{"unknown flag: argument 2 of the command line; see coordtop get --help"}},
		{name: "a password in an unknown flag", args: []string{"get", "-o", "json", "-pSECRET"}, code: 2, stderr: []string{"unknown flag: argument 4 of the command line; see coordtop get --help"}, not: "SECRET"},
		{name: "a password for an unknown flag", args: []string{"get", "x", "--pass=SECRET"}, code: 2, stderr: []string{"unknown flag: argument 3 of the command line; see"}, not: "SECRET"},
		{name: "a bad output", args: []string{"get", "-o", "yaml", "redis://h"}, code: 2, stderr: []string{"write text or json"}},
		{name: "a bad time-out", args: []string{"get", "--timeout", "5", "redis://h"}, code: 2, stderr: []string{`--timeout: write a length of time with its unit, as 30s, 1h30m or 7d; see`}},
		{name: "no time at all", args: []string{"get", "--timeout", "0s", "redis://h"}, code: 2, stderr: []string{"--timeout must be longer"}},
		{name: "too many arguments", args: []string{"version", "x"}, code: 2, stderr: []string{`coordtop: version takes no argument; see coordtop version --help`}},
		{name: "a typo below a command", args: []string{"config", "chek"}, code: 2, stderr: []string{`coordtop: config has no command "chek": did you mean check?`}},
		{name: "no command below a command", args: []string{"config", "x"}, code: 2, stderr: []string{`did you mean check, example or schema?`}},
		{name: "no such shell", args: []string{"completion", "fihs"}, code: 2, stderr: []string{`coordtop: completion has no command "fihs": did you mean fish?`}},
		{name: "two files", args: []string{"config", "check", "a", "b"}, code: 2, stderr: []string{`takes one file at most, 2 were given`}},
		{name: "no permit at all", args: []string{"acquire", "--write", "--yes", "--permits", "0", "redis://h?mutex=x"}, code: 2, stderr: []string{"--permits takes a whole number from 1 on"}},
		{name: "nothing to lead", args: []string{"campaign"}, code: 2, stderr: []string{`coordtop: campaign takes one NAME or URL, none was given; see coordtop campaign --help`}},
		{name: "an unknown scheme", args: []string{"get", "http://h"}, code: 2, stderr: []string{`argument 1: unknown scheme "http"`, "redis"}},
		{name: "a bad port", args: []string{"get", "redis://:hunter2@h:x"}, code: 2, stderr: []string{"argument 1: redis://...: a bad port"}, not: "hunter2"},
		{name: "a bad parameter", args: []string{"get", "redis://h?boss=x"}, code: 2, stderr: []string{`unknown parameter: of the connection there are`, "db, master, client_name", "keys, election, mutex, semaphore, prefix and leader"}},
		{name: "a misspelt parameter", args: []string{"get", "redis://:hunter2@h?kyes=x"}, code: 2, stderr: []string{`unknown parameter "kyes": did you mean keys=?`}, not: "hunter2"},
		{name: "a flag of another command", args: []string{"watch", "--fail-on", "any"}, code: 2, stderr: []string{"unknown flag: --fail-on is a flag of `coordtop get`; see coordtop watch --help"}},
		{name: "a misspelt flag", args: []string{"get", "--tiemout", "3s"}, code: 2, stderr: []string{"unknown flag: --tiemout (did you mean --timeout?); see coordtop get --help"}},
		{name: "help for no command", args: []string{"help", "config", "chekc"}, code: 2, stderr: []string{"there is no such command"}},
		{
			name: "a user of dflockd", args: []string{"get", "dflockd://u:hunter2@h"}, code: 2,
			stderr: []string{"it has a user: dflockd knows only an auth token"}, not: "hunter2",
		},
		{
			name: "a parameter that YDB does not know", args: []string{"get", "grpc://u:hunter2@h/db?leader=hunter2"}, code: 2,
			stderr: []string{"argument 1: grpc://...: parameter 1 behind the ?: ", `unknown parameter: of the connection there are`, "node, keys, election, mutex and semaphore"}, not: "hunter2",
		},
		{name: "a YDB without a database", args: []string{"get", "grpc://u:hunter2@h?node=/local/app"}, code: 2, stderr: []string{"source h: ", "no database: write it as in grpc://host:2136/local"}, not: "hunter2"},
		{name: "a bad YDB port", args: []string{"get", "grpc://u:hunter2@h:x/db"}, code: 2, stderr: []string{"argument 1: grpc://...: a bad port"}, not: "hunter2"},
		{
			name: "a variable with a token that is not set", args: []string{"get"}, code: 2,
			config: "sources: [{name: a, url: 'grpc://h/db', token_env: NONE}, {name: b, url: 'grpcs://h/db', tls: {ca: none.pem}}]",
			stderr: []string{"source a: reading a secret: $NONE is not set"},
		},
		{
			name: "a key out of range", args: []string{"get", "postgres://u:hunter2@h/db?locks=42,9223372036854775808"}, code: 2,
			stderr: []string{"source h: ", "a number does not fit into a bigint", "write a lock's number as 4242"}, not: "hunter2",
		},
		{
			name: "a pair out of range", args: []string{"get", "postgres://u:hunter2@h/db?mutex=17:4294967296"}, code: 2,
			stderr: []string{"two numbers do not fit into two int4", "its two numbers as 17:-4"}, not: "hunter2",
		},
		{name: "a semaphore on Postgres", args: []string{"get", "postgres://h/db?semaphore=4"}, code: 2, stderr: []string{"Postgres has no semaphores: write election or mutex"}},
		{name: "a bad Postgres port", args: []string{"get", "postgres://u:hunter2@h:x/db"}, code: 2, stderr: []string{`argument 1: postgres://...: a bad port`}, not: "hunter2"},
		{name: "a long channel", args: []string{"get", "postgres://h/db?channels=" + strings.Repeat("c", 64)}, code: 2, stderr: []string{"source h: ", "Postgres keeps 63"}},
		{
			name: "a bad DATABASE_URL", args: []string{"get"}, vars: map[string]string{"DATABASE_URL": "postgres://u:hunter2@h/db?locks="}, code: 2,
			stderr: []string{"DATABASE_URL: ", "locks= is empty"}, not: "hunter2",
		},
		{name: "a bad REDIS_URL", args: []string{"get"}, vars: map[string]string{"REDIS_URL": "h:6379"}, code: 2, stderr: []string{"REDIS_URL: ", "not a URL"}},
		{
			name: "an unknown key", args: []string{"get"}, config: "titel: x\nsources: [{url: 'redis://h', nam: y}]\n", code: 2,
			stderr: []string{configFile + ":1:1: titel: unknown key", configFile + ":2:30: sources[0].nam: unknown key"},
		},
		{name: "a config that is named and not there", args: []string{"get", "--config", "/does/not/exist"}, code: 2, stderr: []string{"the config file that --config names does not exist"}},
		{name: "a variable that names no file", args: []string{"get"}, vars: map[string]string{"COORDTOP_CONFIG": "/does/not/exist"}, code: 2, stderr: []string{"the config file that $COORDTOP_CONFIG names does not exist"}},
		{
			name: "a password variable that is not set", args: []string{"get"}, code: 2,
			config: "sources: [{name: a, url: 'redis://h', password_env: NONE}, {name: b, url: 'postgres://h/x', password_file: none.pw}]",
			stderr: []string{"source a: reading a secret: $NONE is not set: export it, or name another", "source b: reading a secret: password_file: there is no such file below /"}, not: "none.pw",
		},
		{
			name: "a password variable that watch needs", args: []string{"watch", "b/4242"}, code: 2,
			config: "sources: [{name: a, url: 'redis://h', password_env: NONE}, {name: b, url: 'postgres://h/x', password_env: NIX}]",
			stderr: []string{"source b: reading a secret: $NIX is not set"}, not: "$NONE",
		},
		{
			name: "a name of no source", args: []string{"get", "b/x"}, config: "sources: [{name: a, url: 'redis://h'}]", code: 2,
			stderr: []string{"argument 1 is read as SOURCE/NAME", "no config names this source: the sources here are a"},
		},
		{
			name: "a source without a config", args: []string{"get", "leases/x"}, code: 2,
			stderr: []string{"no config names this source: there is no config file", "coordtop config example", "a URL begins with its scheme, redis://"}, not: "leases",
		},
		{
			name: "a misspelt source", args: []string{"get", "leasse"}, config: "sources: [{name: leases, url: 'redis://h'}]", code: 2,
			stderr: []string{"the sources here are leases: did you mean leases?"}, not: "leasse",
		},
		{
			name: "a whole source to own", args: []string{"acquire", "leases", "--write", "--yes"}, config: "sources: [{name: leases, url: 'redis://h'}]", code: 2,
			stderr: []string{"leases is a whole source: name one primitive of it, as leases/NAME; coordtop get leases lists them"},
		},
		{name: "config check of a command", args: []string{"config", "check"}, config: "sources:\n- url: redis://h\n  password_command: [./does-not-exist]", code: 2, stderr: []string{configFile + ":3:21: sources[0].password_command: finding a command for a secret: password_command: there is no such file"}, not: "does-not-exist"},
		{name: "config check of a cluster", args: []string{"config", "check"}, config: "sources: [{url: redis+cluster://h}]", code: 2, stderr: []string{"a cluster cannot be watched as a whole yet"}},
		{name: "config check without a file", args: []string{"config", "check"}, code: 2, stderr: []string{"no config file at", "coordtop config example"}},
		{
			name: "config check of a secret", args: []string{"config", "check"}, config: "sources: [{name: a, url: 'redis://h', password_env: NONE}]", code: 2,
			stderr: []string{configFile + ":1:53: sources[0].password_env: reading a secret: $NONE is not set"},
		},
		{
			name: "config check of certificates", args: []string{"config", "check"},
			config: "sources: [{name: a, url: 'rediss://h', tls: {ca: none.pem}}, {name: b, url: 'grpcs://h/x', tls: {ca: none.pem}}, {name: d, url: 'grpc://h/x', token_file: none.token}, {name: c, url: 'postgres://h/x', tls: {ca: none.pem}}]", code: 2,
			stderr: []string{"sources[0].tls: ", "sources[1].tls: reading the TLS authorities: there is no such file below /", "sources[2].token_file: reading a secret: token_file: ", "sources[3].tls: reading the TLS authorities: "}, not: "none.",
		},
		{
			name: "config check of Postgres", args: []string{"config", "check"},
			config: "sources: [{name: a, url: 'postgres://h/x', key_scheme: md5}, {name: b, url: 'postgres://h/x', watch: [{mutex: '1:99999999999'}]}, {name: c, url: 'postgres://h/x', password_env: NONE}]\n" +
				"names: {c: {month-end: ledger}}", code: 2,
			stderr: []string{`sources[0].key_scheme: no such key scheme: write one of hashtextextended, hashtext, crc32, sha256le`, `sources[1].watch[0].mutex: selecting locks: `,
				"its two numbers as 17:-4", `sources[2].password_env: `, `:2:24: an entry of names: naming locks: a name stands at what is no number of a lock`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.vars = c.vars
			if c.config != "" {
				w.write(t, configFile, c.config)
			}
			code := w.main(t.Context(), c.args...)
			stderr := w.stderr.String()
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.stderr {
				if !strings.Contains(stderr, want) {
					t.Errorf("standard error lacks %q:\n%s", want, stderr)
				}
			}
			if !strings.HasPrefix(stderr, "coordtop: ") || strings.Count(stderr, "coordtop: ") != 1 {
				t.Errorf("not said once:\n%s", stderr)
			}
			if c.not != "" && strings.Contains(stderr, c.not) {
				t.Errorf("the secret is shown:\n%s", stderr)
			}
			if out := w.stdout.String(); out != "" {
				t.Errorf("standard output has %q", out)
			}
		})
	}
}

func TestWhatCanBeAnsweredWithoutAServerIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		args         []string
		want         []string
	}{
		{name: "version", args: []string{"version"}, want: []string{"coordtop ", "go1."}},
		{name: "version flag", args: []string{"--version"}, want: []string{"coordtop version "}},
		{name: "help", args: []string{"--help"}, want: []string{"coordtop redis://localhost:6379/0", "get", "watch", "config", "version", "completion", "coordtop man", "--ascii"}},
		{name: "help of get explains the JSON", args: []string{"get", "--help"}, want: []string{"--timeout", "owners_known", "since_after", "Exit code 3"}},
		{name: "help of watch explains the JSON", args: []string{"watch", "--help"}, want: []string{"--output", "gap_ms", "session_ended"}},
		{name: "completion", args: []string{"completion", "bash"}, want: []string{"bash completion"}},
		{name: "config example", args: []string{"config", "example"}, want: []string{"example\n"}},
		{
			name: "config check", config: "sources: [{url: 'redis://h', password_command: [sh]}, {url: 'postgres://p/db', key_scheme: crc32, channels: [ev]}]\nnames: {p: {'17:-4': ledger}}",
			args: []string{"config", "check"}, want: []string{configFile + ": ok: h, p\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.config != "" {
				w.write(t, configFile, c.config)
			}
			if code := w.main(t.Context(), c.args...); code != 0 || w.stderr.String() != "" {
				t.Errorf("exit code %d, %s", code, w.stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(w.stdout.String(), want) {
					t.Errorf("lacks %q:\n%s", want, w.stdout)
				}
			}
		})
	}
}

func lookup(vars map[string]string) config.Lookup {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}
