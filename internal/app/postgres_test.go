package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/app/backends"
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
		Waiters []struct {
			Label, Mode    string
			Session, Guard *string
			Attrs          map[string]string
		}
	}
	Alias      *struct{ Text, Known string }
	Candidates []struct {
		Label string
		Attrs map[string]string
	}
	CandidatesKnown string `json:"candidates_known"`
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
	if code := w.main(t.Context(), append([]string{"get", "-o", "json", "--timeout", longEnough.String()}, args...)...); code != 0 {
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
		how := "told"
		if l.Name == "4242" { // nobody has selected it: the order in which they came is no promise
			how = "inferred"
		}
		if l.Namespace != "postgres" || l.Queue.Known != how {
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

func TestGetShowsWhatLocksAreCalledAndWhoTriesForThem(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	mary := login(t, server.URL(), "mary").does("select pg_advisory_lock(72707369)", "select pg_advisory_lock(17, -4)", "select pg_advisory_lock(1)")
	paul := login(t, server.URL(), "paul").awaits(mary, "select pg_advisory_lock(72707369)")
	ruth := login(t, server.URL(), "ruth").does("select pg_try_advisory_lock(17, -4)")
	login(t, server.URL(), "coderd").does("select pg_advisory_lock(3)")
	w := newWorld(t)
	w.write(t, configFile, fmt.Sprintf("sources: [{name: b, url: '%s'}]\nnames: {b: {'17:-4': ledger/compactor}}", server.URL()))
	for _, l := range look(t, w).Primitives {
		want := map[string]string{"72707369": "Prisma Migrate inferred", "17:-4": "ledger/compactor told", "3": "likely Coder rollup inferred"}[l.Name]
		called := ""
		if l.Alias != nil {
			called = l.Alias.Text + " " + l.Alias.Known
		}
		if called != want { // of 1 nothing says whose it is
			t.Errorf("%s is called %q, want %q", l.Name, called, want)
		}
		if l.CandidatesKnown != "unknown" {
			t.Errorf("%s: candidates are said to be %s", l.Name, l.CandidatesKnown)
		}
		switch l.Name {
		case "72707369":
			if len(l.Queue.Waiters) != 1 || l.Queue.Waiters[0].Session == nil || l.Queue.Waiters[0].Guard == nil ||
				l.Queue.Waiters[0].Label != paul.label() || l.Queue.Waiters[0].Attrs["blocked by"] != fmt.Sprint(mary.conn.PgConn().PID()) {
				t.Errorf("queue %+v", l.Queue)
			}
		case "17:-4":
			if len(l.Candidates) != 1 || l.Candidates[0].Label != ruth.label() || !strings.HasPrefix(l.Candidates[0].Attrs["candidate"], "probable") {
				t.Errorf("candidates %+v", l.Candidates)
			}
		}
	}
	w.stdout = newStream()
	if code := w.main(t.Context(), "get"); code != 0 || !strings.Contains(w.stdout.String(), " 17:-4 (ledger/compactor) ") {
		t.Errorf("exit code %d:\n%s%s", code, w.stdout, w.stderr)
	}
	run := watch(t, w, "-o", "text")
	defer run.end()
	run.stdout.await(t, func(text string) bool { return strings.Contains(text, "  synced  ") })
	mary.does("select pg_advisory_unlock(17, -4)")
	run.stdout.await(t, func(text string) bool {
		return strings.Contains(text, "b/17:-4 (ledger/compactor)  was "+mary.label())
	})
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
	if code := w.main(t.Context(), "get", "ledger/ledger/compactor"); code != 0 || !strings.Contains(w.stdout.String(), "17:-4") {
		t.Errorf("a name for people is not taken for a lock's: exit code %d, %s", code, w.stderr)
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
		if got.Sources[0].Name != "127.0.0.1" {
			t.Errorf("%s: the source is named %q", name, got.Sources[0].Name)
		}
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
	c, err := backends.Config().Parse([]byte(text), "c.yaml", nothingSet)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "ledger/compactor"} {
		st := settings{lookup: nothingSet}
		source, err := st.source(c.Sources[i], c)
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
