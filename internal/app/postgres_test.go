package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/config"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// person is a session as somebody at psql has it.
type person struct {
	t    *testing.T
	conn *pgx.Conn
	name string
}

// login opens a session under a name.
func login(t *testing.T, url, name string) *person {
	t.Helper()
	c, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	c.RuntimeParams["application_name"] = name
	conn, err := pgx.ConnectConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // a test may have broken it
	return &person{t: t, conn: conn, name: name}
}

func (p *person) label() string { return fmt.Sprintf("%s pid %d", p.name, p.conn.PgConn().PID()) }

// does runs statements.
func (p *person) does(statements ...string) *person {
	p.t.Helper()
	for _, sql := range statements {
		if _, err := p.conn.Exec(p.t.Context(), sql); err != nil {
			p.t.Fatalf("%s: %s: %v", p.name, sql, err)
		}
	}
	return p
}

// awaits begins a statement that has to wait for a lock, and returns when another session
// sees that it does. It is served, or given up, before the test ends.
func (p *person) awaits(other *person, sql string) *person {
	p.t.Helper()
	served := make(chan error, 1)
	ctx, giveUp := context.WithCancel(context.Background())
	go func() {
		_, err := p.conn.Exec(ctx, sql)
		served <- err
	}()
	p.t.Cleanup(func() {
		giveUp()
		<-served
	})
	eventually(p.t, p.name+" waits", func() bool {
		var waits bool
		err := other.conn.QueryRow(p.t.Context(), "select exists (select from pg_locks where pid = $1 and not granted)", p.conn.PgConn().PID()).Scan(&waits)
		return err == nil && waits
	})
	return p
}

// lookJSON is what the tests read of get.
type lookJSON struct {
	Sources []struct {
		Name, Type, Health, Mode string
		Warnings                 []string
		Scopes                   []struct{ Version, Role string }
	}
	Primitives []lockJSON
}

type lockJSON struct {
	Source, Namespace, Kind, Name, State string
	Limit                                *int64
	Taken                                uint64
	Owners                               []struct {
		ID, Label, Mode string
		Guard           *string
		Attrs           map[string]string
		LeaseMS         *int64 `json:"lease_ms"`
	}
	Queue struct {
		Known   string
		Len     int
		Waiters []struct{ Label, Mode string }
	}
}

// text says who owns and who waits, in order.
func (l lockJSON) text() string {
	var owners, waiters []string
	for _, o := range l.Owners {
		owners = append(owners, o.Mode+" "+o.Label)
	}
	slices.Sort(owners)
	for _, w := range l.Queue.Waiters {
		waiters = append(waiters, w.Mode+" "+w.Label)
	}
	return fmt.Sprintf("%s %s %s: %s; waiting: %s", l.Kind, l.Name, l.State, strings.Join(owners, ", "), strings.Join(waiters, ", "))
}

func look(t *testing.T, w *world, args ...string) lookJSON {
	t.Helper()
	if code := w.main(t.Context(), append([]string{"get", "-o", "json"}, args...)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	var got lookJSON
	if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil {
		t.Fatalf("%v: %s", err, w.stdout)
	}
	return got
}

func TestGetShowsOwnersAndQueuesOfPostgresLocks(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	url := server.URL()
	mary := login(t, url, "mary").does("select pg_advisory_lock(4242)", "select pg_advisory_lock(-4242)", "select pg_advisory_lock(17, -4)",
		"select pg_advisory_lock(hashtextextended('month-end', 0))")
	john := login(t, url, "john").does("select pg_advisory_lock_shared(-9000000000)")
	jane := login(t, url, "jane").does("select pg_advisory_lock_shared(-9000000000)", "select pg_advisory_lock(-1, 2147483647)")
	paul := login(t, url, "paul").awaits(mary, "select pg_advisory_lock(4242)")
	ruth := login(t, url, "ruth").awaits(mary, "select pg_advisory_lock_shared(4242)")
	noah := login(t, url, "noah").awaits(mary, "select pg_advisory_lock(4242)")

	got := look(t, newWorld(t), url+"&election=4242&mutex=month-end,-1:2147483647&locks=-9000000000,17:-4,7&locks=*")
	if len(got.Sources) != 1 || got.Sources[0].Type != "postgres" || got.Sources[0].Health != "live" ||
		!strings.HasPrefix(got.Sources[0].Mode, "polling") || len(got.Sources[0].Warnings) != 0 || got.Sources[0].Scopes[0].Role != "primary" {
		t.Errorf("sources %+v", got.Sources)
	}
	want := map[string]string{
		"4242": fmt.Sprintf("election 4242 led: exclusive %s; waiting: exclusive %s, shared %s, exclusive %s",
			mary.label(), paul.label(), ruth.label(), noah.label()),
		"-4242":         fmt.Sprintf("mutex -4242 held: exclusive %s; waiting: ", mary.label()),
		"17:-4":         fmt.Sprintf("mutex 17:-4 held: exclusive %s; waiting: ", mary.label()),
		"-1:2147483647": fmt.Sprintf("mutex -1:2147483647 held: exclusive %s; waiting: ", jane.label()),
		"-9000000000":   fmt.Sprintf("mutex -9000000000 held: shared %s, shared %s; waiting: ", jane.label(), john.label()),
		"month-end":     fmt.Sprintf("mutex month-end held: exclusive %s; waiting: ", mary.label()),
		"7":             "mutex 7 free: ; waiting: ",
	}
	for _, l := range got.Primitives {
		if text := l.text(); text != want[l.Name] {
			t.Errorf("got  %s\nwant %s", text, want[l.Name])
		}
		if l.Namespace != "postgres" || l.Queue.Known != "told" {
			t.Errorf("%s: namespace %q, queue known %q", l.Name, l.Namespace, l.Queue.Known)
		}
		for _, o := range l.Owners {
			if o.Guard == nil || o.Attrs["state"] != "idle" || o.Attrs["query"] == "" || o.LeaseMS == nil || *o.LeaseMS != -1 {
				t.Errorf("%s: owner %+v", l.Name, o)
			}
		}
		delete(want, l.Name)
	}
	if len(want) > 0 {
		t.Errorf("not shown: %v", want)
	}
}

func TestAPostgresSourceOfAFileHasItsNamesSchemeAndPassword(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: "hunter2", TLS: true})
	mary := login(t, server.URL(), "mary:1").does("select pg_advisory_lock(17, -4)", "select pg_advisory_lock(hashtext('month-end'))")
	w := newWorld(t)
	w.write(t, ".config/coordtop/pw", "hunter2\n")
	w.write(t, configFile, fmt.Sprintf(`sources:
  - name: ledger
    url: postgres://%s/postgres
    user: postgres
    password_file: pw
    tls: {ca: %s}
    watch: [{mutex: month-end, expected: true}, {election: "17:-4"}]
    key_scheme: hashtext
    channels: [Events]
    poll: {min: 10m, max: 10m}
names: {ledger: {"17:-4": ledger/compactor}}
owners: [{match: '^(\w+):1 .*', label: '$1 herself'}]
`, server.Addr(), server.TLSFiles().CA))
	got := look(t, w)
	if s := got.Sources[0]; s.Name != "ledger" {
		t.Errorf("source %+v", s)
	}
	var lines []string
	for _, l := range got.Primitives {
		lines = append(lines, l.text())
	}
	slices.Sort(lines)
	if want := []string{"election 17:-4 led: exclusive mary herself; waiting: ", "mutex month-end held: exclusive mary herself; waiting: "}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	run := watch(t, w, "-o", "json")
	defer run.end()
	run.has(t, "synced ")
	mary.does("select pg_advisory_unlock(17, -4)")
	looks := func(event string) {
		t.Helper()
		eventually(t, "a notification makes it look", func() bool {
			mary.does(`notify "Events"`) // nobody tells when it listens
			return strings.Contains(w.stdout.String(), `"event":"`+event+`"`)
		})
	}
	looks("released") // it also looks when it begins to listen
	mary.does("select pg_advisory_lock(17, -4)")
	looks("acquired")

	w.stdout, w.stderr = newStream(), newStream()
	if code := w.main(t.Context(), "get", "ledger/ledger/compactor"); code != 4 {
		t.Errorf("a name for people is taken for a lock's: exit code %d, %s", code, w.stderr)
	}
}

func TestTheEnvironmentNamesAPostgresServer(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: "hunter2"})
	mary := login(t, server.URL(), "mary").does("select pg_advisory_lock(4242)")
	for name, vars := range map[string]map[string]string{
		"DATABASE_URL": {"DATABASE_URL": server.URL()},
		"PGHOST":       {"PGHOST": "127.0.0.1", "PGPORT": fmt.Sprint(server.Port()), "PGUSER": "postgres", "PGDATABASE": "postgres", "PGPASSWORD": "hunter2"},
	} {
		w := newWorld(t)
		w.vars = vars
		got := look(t, w)
		if len(got.Primitives) != 1 || len(got.Primitives[0].Owners) != 1 || got.Primitives[0].Owners[0].Label != mary.label() {
			t.Errorf("%s: %+v", name, got.Primitives)
		}
		if got.Sources[0].Name != server.Addr() {
			t.Errorf("%s: the source is named %q", name, got.Sources[0].Name)
		}
	}
}

func TestAPostgresThatCannotBeReadIsExplained(t *testing.T) {
	t.Parallel()
	locked := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: "hunter2"})
	open := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	login(t, open.URL(), "mary").does("select pg_advisory_lock(4242)")
	dark := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	if err := dark.Freeze(); err != nil {
		t.Fatal(err)
	}
	empty := newWorld(t).write(t, "empty.pem", "nothing")
	sealed := localserver.PostgresForTest(t, localserver.PostgresOptions{TLS: true})
	other := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true}).TLSFiles().CA
	for _, c := range []struct {
		name, url string
		want      []string
	}{
		{"nobody listens", "postgres://u@" + refusing(t) + "/db", []string{"did not answer", "nothing listens at"}},
		{"no such host", "postgres://u@host.invalid:5433/db", []string{"host.invalid:5433 did not answer"}},
		{"a wrong password", "postgres://postgres:wrong-pass@" + locked.Addr() + "/postgres", []string{"refused our credentials: ", "refuses the password of postgres"}},
		{"no password", "postgres://postgres@" + locked.Addr() + "/postgres", []string{"refused our credentials: ", "wants a password for postgres"}},
		{"an unknown database", "postgres://postgres:hunter2@" + locked.Addr() + "/nowhere", []string{"cannot be watched: ", "has no database nowhere"}},
		{"an unknown role", open.URLFor("nobody", "", "postgres"), []string{"refused our credentials: ", "does not let nobody in"}},
		{"an unknown parameter", open.URL() + "&kyes=1", []string{"cannot be watched: ", `"kyes"`, "locks=, election=, mutex= and channels="}},
		{"no TLS there", "postgres://postgres@" + open.Addr() + "/postgres?sslmode=require", []string{"did not answer", "TLS"}},
		{"no answer", dark.URL(), []string{"did not answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			code := w.main(t.Context(), "get", "--timeout", "4s", c.url, open.URL())
			explained(t, w, code, c.want)
		})
	}
	for ca, want := range map[string]string{
		empty: "no certificate in " + empty,
		other: "signed by an authority that is not trusted",
	} {
		t.Run("certificates: "+want, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(t, configFile, fmt.Sprintf("sources: [{name: bad, url: 'postgres://postgres@%s/postgres', tls: {ca: %s}}, {name: good, url: '%s'}]",
				sealed.Addr(), ca, open.URL()))
			code := w.main(t.Context(), "get", "--timeout", "4s")
			explained(t, w, code, []string{"bad cannot be watched: ", want})
		})
	}
}

// explained fails unless one source is said not to answer and the other is shown.
func explained(t *testing.T, w *world, code int, want []string) {
	t.Helper()
	if code != exitNoAnswer {
		t.Errorf("exit code %d", code)
	}
	stderr := w.stderr.String()
	for _, text := range want {
		if !strings.Contains(stderr, text) {
			t.Errorf("lacks %q: %s", text, stderr)
		}
	}
	if lines := strings.Count(strings.TrimSpace(stderr), "\n"); lines > 0 {
		t.Errorf("not one line:\n%s", stderr)
	}
	for _, secret := range []string{"hunter2", "wrong-pass"} {
		if strings.Contains(stderr, secret) {
			t.Errorf("the password is shown: %s", stderr)
		}
	}
	if !strings.Contains(w.stdout.String(), "4242") {
		t.Errorf("the server that works is not shown:\n%s", w.stdout)
	}
}

func TestWatchTellsAHandOverOfAPostgresLockOnce(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	mary := login(t, server.URL(), "mary").does("select pg_advisory_lock(4242)")
	run := watch(t, newWorld(t), server.URL()+"&mutex=4242", "-o", "json")
	defer run.end()
	run.has(t, "synced ")
	paul := login(t, server.URL(), "paul").awaits(mary, "select pg_advisory_lock(4242)")
	run.has(t, "waiter_joined 4242 "+paul.label())
	mary.does("select pg_advisory_unlock(4242)")
	run.has(t, fmt.Sprintf("owner_changed 4242 %s was %s", paul.label(), mary.label()))
	run.end()
	if code := <-run.done; code != 0 {
		t.Errorf("exit code %d: %s", code, run.stderr)
	}
	owners := 0
	for _, l := range parse(t, run.stdout.String()) {
		if l.Event == "owner_changed" || l.Event == "acquired" || l.Event == "released" {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("told %d changes of owner:\n%s", owners, run.stdout)
	}
}

func TestTheBoardShowsAPostgresQueue(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	mary := login(t, server.URL(), "mary").does("select pg_advisory_lock(4242)")
	login(t, server.URL(), "paul").awaits(mary, "select pg_advisory_lock(4242)")
	cmd := command(t, server.URL()+"&mutex=4242")
	s := onScreen(t, cmd)
	s.await(t, func(out string) bool { return strings.Contains(out, "mary pid") && strings.Contains(out, "WAITING") })
	if _, err := s.file.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestNamesOfAFileReachThePostgresSource(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	login(t, server.URL(), "mary").does("select pg_advisory_lock(17, -4)")
	text := fmt.Sprintf("sources: [{name: a, url: '%s'}, {name: b, url: '%[1]s'}]\nnames: {b: {'17:-4': ledger/compactor}}", server.URL())
	c, err := config.Parse([]byte(text), "c.yaml", nothingSet)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "ledger/compactor"} {
		p := &program{env: Environment{Lookup: nothingSet}}
		source, err := p.source(c.Sources[i], c)
		if err != nil {
			t.Fatal(err)
		}
		if got := aliasOf(t, source, "17:-4"); got != want {
			t.Errorf("source %s: named %q, want %q", c.Sources[i].Name, got, want)
		}
	}
}

func nothingSet(string) (string, bool) { return "", false }

// aliasOf reads a source until it tells of a lock.
func aliasOf(t *testing.T, source sources.Source, name string) string {
	t.Helper()
	if err := source.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	}()
	for {
		change, err := source.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range change.Set {
			if p.Name == name {
				return p.Alias
			}
		}
	}
}
