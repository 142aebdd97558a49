package follow_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/history"
	"coordtop/internal/history/follow"
	"coordtop/internal/history/postgres"
	"coordtop/internal/history/record"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// recorder records a Hub into a store until end.
type recorder struct {
	hub *sources.Hub
	end func()
}

// newRecorder records one row that owner owns.
func newRecorder(t *testing.T, o postgres.Options, host, owner string, lock uint32) *recorder {
	t.Helper()
	o.Claim = &postgres.Claim{Lock: lock}
	inputs := sources.NewInputBuffer(0, 0)
	hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
	script := sourcetest.NewScript()
	script.OnConnect(func() []sources.Change {
		now := sources.Wall()
		return []sources.Change{{At: now, Alive: []string{""}, Relists: true, Synced: true, Set: []*sources.Primitive{{
			Ref: sources.Ref{Source: "leases", Name: "x"}, Kind: sources.KindElection, At: now, OwnersHow: sources.Told, Owners: []sources.Owner{{ID: owner, Label: owner}},
		}}}}
	})
	ctx, cancel := context.WithCancel(context.Background())
	ran, recorded := make(chan error, 1), make(chan error, 1)
	go func() { // received in end
		ran <- sources.Run(ctx, hub, []sources.Spec{{Name: "leases", Type: "redis", Address: "leases:1", Source: script, Silence: time.Hour}})
	}()
	r := record.New(record.Options{Hub: hub, Inputs: inputs, Followed: true, Begin: func(ctx context.Context) (record.Output, error) {
		now := hub.Now().Wall
		return postgres.Begin(ctx, o, history.Run{Span: history.Span{From: now, To: now}, Host: host, PID: 1})
	}})
	go func() { recorded <- r.Run(ctx) }() // received in end
	ended := false
	end := func() {
		if cancel(); ended {
			return
		}
		ended = true
		if err := errors.Join(<-ran, <-recorded); err != nil {
			t.Error(err)
		}
		hub.Close()
	}
	t.Cleanup(end)
	return &recorder{hub, end}
}

// await waits until ok is true of the State of a Follower.
func await(t *testing.T, f *follow.Follower, what string, ok func(*sources.State) bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for !ok(f.Hub().State()) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			t.Fatalf("%s: it never is: %+v", what, f.Status())
		}
	}
}

func shows(owner string) func(*sources.State) bool {
	return func(s *sources.State) bool {
		for _, row := range s.Rows {
			if row != nil && row.Fresh(s) && len(row.Owners) == 1 && row.Owners[0].ID == owner {
				return true
			}
		}
		return false
	}
}

func execute(t *testing.T, url, text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestAFollowerOfATeamsStoreOutlivesItsRecorderAndHostileRows(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	o := postgres.Options{Address: server.URL()}
	first := newRecorder(t, o, "host-a", "owner-1", 1)
	listener := postgres.Listen(t.Context(), o)
	defer listener.Close()
	store := postgres.NewReader(o)
	defer store.Close()
	var f *follow.Follower
	for f == nil {
		f = follow.New(t.Context(), follow.Options{Log: store, Written: listener.Written})
		if err := f.Ready(t.Context()); err != nil { // nothing was written yet
			f.Close()
			f = nil
		}
	}
	defer f.Close()
	await(t, f, "the first recorder's view", shows("owner-1"))
	rows := f.Hub().Subscribe(0)

	second := newRecorder(t, o, "host-b", "owner-2", 2) // it supersedes the first one
	await(t, f, "the second recorder's view", shows("owner-2"))
	await(t, f, "who sees it", func(*sources.State) bool { return f.Status().Run.ID == 2 && f.Status().Silent == "" }) // told just after the rows
	if s := f.Status(); s.Run.Host != "host-b" || s.Err != nil {
		t.Errorf("%+v", s)
	}
	if _, missed := rows.Events(0); missed == 0 {
		t.Error("the events before the second run are not missed")
	}
	first.end()

	execute(t, server.URL(), "create function hostile() returns trigger language plpgsql as $$ begin new.body := '\\xffdeadbeefff'; return new; end $$; create trigger hostile before insert on coordtop.tail for each row execute procedure hostile()")
	second.hub.AddEvent(sources.Event{Kind: sources.EventNote, Detail: "more"})
	await(t, f, "a damaged group", func(s *sources.State) bool { return strings.Contains(f.Status().Silent, "cannot be read") && !live(s) })
	if s := f.Status(); !errors.Is(s.Err, history.ErrDamaged) {
		t.Errorf("damaged: %+v", s)
	}
	second.end()
	execute(t, server.URL(), "drop trigger hostile on coordtop.tail")
	third := newRecorder(t, o, "host-c", "owner-3", 3)
	await(t, f, "the third recorder's view", shows("owner-3"))
	execute(t, server.URL(), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'coordtop history'")
	await(t, f, "the view after all sessions were ended", func(s *sources.State) bool { return shows("owner-3")(s) && f.Status().Err == nil })
	third.hub.AddEvent(sources.Event{Kind: sources.EventNote, Detail: "more"})
	third.end()
	await(t, f, "the end of the last recorder", func(s *sources.State) bool { return f.Status().Silent != "" && !live(s) })
}
