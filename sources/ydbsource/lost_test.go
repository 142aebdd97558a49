package ydbsource

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// oneElection is a node with one election, of which nothing was read yet.
func oneElection() (*nodeState, *entry, time.Time) {
	e := &entry{Selection: Selection{Pattern: "x", Kind: sources.KindElection}}
	b := &nodeState{o: &Options{Name: "src"}, path: app, names: []*entry{e}}
	b.begin()
	return b, e, time.Now()
}

func TestALookThatFindsAnOwnerDoesNotCallItTold(t *testing.T) {
	t.Parallel()
	b, e, t0 := oneElection()
	b.changes(e, look(t0, 1))
	found := look(t0.Add(time.Minute), 2)
	found.Fired = false // no watch has said so
	changes := b.changes(e, found)
	if len(changes) != 1 || !changes[0].After.Equal(t0.Add(-time.Millisecond)) {
		t.Errorf("told as %+v, want after the last look was asked for", changes)
	}
}

func TestAfterAnOutageAChangeMayBeAsOldAsTheLastReadOfThatName(t *testing.T) {
	t.Parallel()
	b, e, t0 := oneElection()
	b.changes(e, look(t0, 1))
	b.loseTrack()
	changes := b.changes(e, look(t0.Add(time.Minute), 2))
	if len(changes) != 1 || !changes[0].After.Equal(t0.Add(-time.Millisecond)) {
		t.Errorf("told as %+v, want after the last look was asked for", changes)
	}
}

func TestWhoWaitedForADeletedSemaphoreMayHaveLeftBefore(t *testing.T) {
	t.Parallel()
	b, e, t0 := oneElection()
	b.changes(e, look(t0, 1, 2))
	gone := ydbcoord.SemaphoreState{Name: "x", Absent: true, Fired: true, Asked: t0.Add(time.Minute), At: t0.Add(time.Minute)}
	changes := b.changes(e, gone)
	if len(changes) != 2 || !changes[0].After.Equal(t0.Add(-time.Millisecond)) || changes[0].Set[0].Queue.Len != 0 || len(changes[0].Set[0].Owners) != 1 {
		t.Fatalf("told as %+v, want the queue first, after the last look was asked for", changes)
	}
	if !changes[1].After.IsZero() || !changes[1].Set[0].Absent {
		t.Errorf("told as %+v, want the deletion at its instant", changes[1])
	}
}

func TestAWaiterThatComesBackAndIsServedIsNotToldToLeave(t *testing.T) {
	t.Parallel()
	b, e, t0 := oneElection()
	b.changes(e, look(t0, 1, 2, 3))
	served := look(t0.Add(time.Second), 2)
	served.Owners[0].Order = 9 // it has left the queue and claimed anew
	changes := b.changes(e, served)
	if len(changes) != 2 || len(changes[0].Set[0].Queue.Waiters) != 1 || changes[0].Set[0].Queue.Waiters[0].Order != 3 {
		t.Fatalf("told as %+v, want the owner with only 3 in the queue first", changes)
	}
}

func TestALateNoticeIsToldWithWhatItLeavesOpen(t *testing.T) {
	t.Parallel()
	b, e, t0 := oneElection()
	b.changes(e, look(t0, 1, 2))
	late := look(t0.Add(time.Minute), 3)
	late.Since = t0.Add(58 * time.Second)
	changes := b.changes(e, late)
	if len(changes) != 2 || !changes[0].After.Equal(late.Since) || !changes[1].After.Equal(t0.Add(-time.Millisecond)) {
		t.Errorf("told as %+v, want the owner after %v and the queue after the last look", changes, late.Since)
	}
}

// TestALostNoticeIsFoundByALookAlsoAtWhatNobodyOwned is of one that is not on screen.
func TestALostNoticeIsFoundByALookAlsoAtWhatNobodyOwned(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.watch(Options{Selections: elections("leader"), PollMax: time.Second}).synced()
	r.DropReplies("describe_semaphore_changed", 1)
	first := r.lead(r.person(), "leader", "a")
	if e := r.Event(sources.EventAcquired, "leader"); e.Owner.Label != "a" {
		t.Errorf("%+v", e)
	}
	r.resign(first)
	if e := r.Event(sources.EventReleased, "leader"); e.Previous.Label != "a" {
		t.Errorf("%+v", e)
	}
}

func TestAWatchWhoseNoticeIsLostIsArmedAgainByTheNextLook(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.watch(Options{Selections: elections("leader")}).synced()
	ref := sources.Ref{Source: "src", Space: app, Name: "leader"}
	r.Hub.Focus([]sources.Ref{ref}, ref) // so that it is looked at often
	r.Row("", "leader", "free", is(sources.StatusNoLeader))
	r.DropReplies("describe_semaphore_changed", 1)
	before := time.Now()
	first := r.lead(r.person(), "leader", "a")
	e := r.Event(sources.EventAcquired, "leader")
	if e.Owner.Label != "a" || e.After.After(before) || e.At.Sub(before) > 2*time.Second {
		t.Errorf("%+v: want it within one pause, as an interval from before %v", e, before)
	}
	row := r.Row("", "leader", "led", is(sources.StatusLed))
	if !slices.ContainsFunc(row.Unobserved(r.Hub.State()), func(d sources.Dark) bool { return !d.From.After(before) }) {
		t.Errorf("of what may have come and gone since the watch was armed it says %v", row.Unobserved(r.Hub.State()))
	}
	// From here on it is told by the watch again, at the instant.
	r.resign(first)
	if e := r.Event(sources.EventReleased, "leader"); !e.After.IsZero() && e.At.Sub(e.After) > 400*time.Millisecond { // less than the pause between two looks
		t.Errorf("%+v: want it pushed", e)
	}
}

func TestAWatchThatIsNotArmedIsNotCalledOne(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	first := r.lead(r.person(), "leader", "a")
	r.watch(Options{Selections: elections("leader"), PollMax: time.Hour}).synced()
	r.About(app, "watched", func(a sources.About) bool { return a.Mode == modeWatch })
	r.DropReplies("describe_semaphore_result", 1)
	r.resign(first)
	r.About(app, "not armed", func(a sources.About) bool { return a.Mode == "1 of 1 watches not armed" })
	r.About(app, "watched again", func(a sources.About) bool { return a.Mode == modeWatch })
}

func TestAnEphemeralSemaphoreThatIsReleasedIsNotDeleted(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{})
	lease, err := r.person().Semaphore("pool", coord.SemaphoreOptions{Ephemeral: true}).Acquire(t.Context(), 1)
	noError(t, err)
	r.watch(Options{Selections: []Selection{{Pattern: "pool", Kind: sources.KindSemaphore}}}).synced()
	r.Row("", "pool", "held", is(sources.StatusHeld))
	noError(t, lease.Release(t.Context()))
	if e := r.Event(sources.EventReleased, "pool"); e.Cause != sources.CauseUnknown {
		t.Errorf("%+v: why is not told", e)
	}
	row := r.Row("", "pool", "free", is(sources.StatusFree))
	if row.Absent || row.Note != "" {
		t.Errorf("%+v", row.Primitive)
	}
}

func TestAStreamThatSaysNotFoundDoesNotDeleteTheNode(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.lead(r.person(), "leader", "a")
	r.watch(Options{Selections: elections("leader")}).synced()
	r.Row("", "leader", "led", is(sources.StatusLed))
	noError(t, r.FailStreams(app, Ydb.StatusIds_NOT_FOUND))
	r.Event(sources.EventSourceDown, "")
	r.Event(sources.EventSourceUp, "")
	r.Row("", "leader", "led again", is(sources.StatusLed))
	events, _ := r.Hub.Subscribe(0).Events(0)
	for _, e := range events {
		if e.Kind == sources.EventDeleted || e.Kind == sources.EventReleased || e.Kind == sources.EventAcquired {
			t.Errorf("%v of %s was told, and nothing has happened", e.Kind, e.Ref.Name)
		}
		if strings.Contains(e.Detail, "there is no") {
			t.Errorf("%v says %q, and the node exists", e.Kind, e.Detail)
		}
	}
}

func TestANodeThatIsMadeAnewIsNotCalledARestart(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.watch(Options{Selections: elections("leader")}).synced()
	noError(t, r.nodes().Drop(t.Context(), app))
	r.Row("", "leader", "absent", is(sources.StatusAbsent))
	r.node(app)
	if e := r.Event(sources.EventRestarted, ""); !strings.HasPrefix(e.Detail, "the node was made anew") {
		t.Errorf("%+v", e)
	}
}

func TestWhoMayNotSeeTheSettingsOfANodeStillWatchesIt(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{Users: map[string]ydbtest.User{"blind": {Password: "p", Deny: ydbtest.List | ydbtest.Write | ydbtest.Erase}}}, "leader")
	client := r.client()
	client.User, client.Password = "blind", "p"
	r.watch(Options{Client: client, Nodes: []string{app}, Selections: elections("leader")}).synced()
	r.Row("", "leader", "without a leader", is(sources.StatusNoLeader))
	about := r.About(app, "warned", func(a sources.About) bool { return len(a.Warnings) > 0 })
	if !strings.Contains(about.Warnings[0], "the settings of the node cannot be read") || r.Status().Health != sources.HealthLive {
		t.Errorf("%+v", about)
	}
}
