package sources

import (
	"testing"
	"time"
)

func TestStatusIsTheWordOfTheRow(t *testing.T) {
	t.Parallel()
	leased := func(left, lease time.Duration) Owner {
		return Owner{ID: "a", Lease: lease, Expires: Stamp{At: t0.Add(left), How: Told}}
	}
	renewed := func(ago time.Duration) Owner {
		o := leased(time.Hour, time.Hour)
		o.Renewed = Stamp{At: t0.Add(-ago), How: Seen}
		return o
	}
	kind := func(k Kind) func(*Row) { return func(r *Row) { r.Kind = k } }
	every10s := func(r *Row) { r.RenewEvery = 10 * time.Second }
	mutex, sem := kind(KindMutex), kind(KindSemaphore)
	limit := func(taken, limit uint64) func(*Row) {
		return func(r *Row) { r.Kind, r.Limit, r.Taken, r.LimitHow = KindSemaphore, limit, taken, Told }
	}
	noOwners := func(r *Row) { r.OwnersHow = Unknown }
	allCandidates := func(r *Row) { r.Queue.How, r.CandidatesHow = Told, Told }
	stale := func(r *Row) { r.Scope = 1 }
	tests := []struct {
		want    Status
		word    string
		owners  []Owner
		changes []func(*Row)
	}{
		{StatusLed, "led", []Owner{{ID: "a"}}, nil},
		{StatusLed, "led", []Owner{leased(20*time.Second, 30*time.Second)}, nil},
		{StatusLedLate, "led, renewal late", []Owner{leased(9*time.Second, 30*time.Second)}, nil},
		{StatusLed, "led", []Owner{renewed(14 * time.Second)}, []func(*Row){every10s}},
		{StatusLedLate, "led, renewal late", []Owner{renewed(15 * time.Second)}, []func(*Row){every10s}},
		{StatusLedLate, "led, renewal late", []Owner{leased(0, 0)}, nil},
		{StatusNoLeader, "no leader", nil, nil},
		{StatusNoLeader, "no leader", nil, []func(*Row){func(r *Row) { r.Queue = Queue{How: Told, Len: 2} }}},
		{StatusNoLeader, "no leader", nil, []func(*Row){func(r *Row) { r.Queue.How = Told }}}, // others may try unseen
		{StatusNoLeader, "no leader", nil, []func(*Row){func(r *Row) { r.CandidatesHow = Told }}},
		{StatusNoLeader, "no leader", nil, []func(*Row){allCandidates, func(r *Row) { r.Queue.Len = 1 }}},
		{StatusNoLeader, "no leader", nil, []func(*Row){allCandidates, func(r *Row) { r.Candidates = []Waiter{{ID: "b"}} }}},
		{StatusNoCandidates, "no candidates", nil, []func(*Row){allCandidates}},
		{StatusUnknown, "unknown", nil, []func(*Row){noOwners}},
		{StatusUnknown, "unknown", nil, []func(*Row){noOwners, sem}},
		{StatusHeld, "held", nil, []func(*Row){mutex, noOwners, func(r *Row) { r.Taken = 1 }}},
		{StatusFree, "free", nil, []func(*Row){mutex}},
		{StatusFree, "free", nil, []func(*Row){kind(KindUnknown)}},
		{StatusFree, "free", nil, []func(*Row){limit(0, 3), noOwners}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){mutex}},
		{StatusHeld, "held", []Owner{leased(time.Second, time.Hour)}, []func(*Row){mutex}}, // never renewed: not late before its end
		{StatusHeldSilent, "held, owner silent", []Owner{leased(-time.Second, time.Hour)}, []func(*Row){mutex}},
		{StatusHeldSilent, "held, owner silent", []Owner{renewed(time.Minute)}, []func(*Row){mutex, every10s}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(1, 3)}},
		{StatusHeld, "held", nil, []func(*Row){limit(2, 3), noOwners}},
		{StatusFull, "full", []Owner{{ID: "a", Permits: 3}}, []func(*Row){limit(3, 3)}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(1, 1)}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(1<<40, NoLimit)}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(5, 3), func(r *Row) { r.LimitHow = Unknown }}},
		{StatusConflict, "conflict", []Owner{{ID: "a"}, {ID: "b"}}, nil},
		{StatusConflict, "conflict", []Owner{{ID: "a"}, {ID: "b", Mode: Shared}}, []func(*Row){mutex}},
		{StatusHeld, "held", []Owner{{ID: "a", Mode: Shared}, {ID: "b", Mode: Shared}}, []func(*Row){mutex}},
		{StatusHeld, "held", []Owner{{ID: "a", Session: "s"}, {ID: "a shared", Session: "s", Mode: Shared}}, []func(*Row){mutex}},
		{StatusConflict, "conflict", []Owner{{ID: "a", Session: "s"}, {ID: "b", Session: "t", Mode: Shared}}, []func(*Row){mutex}},
		{StatusHeld, "held", []Owner{{ID: "a"}, {ID: "b"}}, []func(*Row){limit(2, 3)}},
		{StatusStale, "stale", nil, []func(*Row){stale}},
		{StatusStale, "stale", []Owner{{ID: "a"}, {ID: "b"}}, []func(*Row){stale}},
		{StatusStale, "stale", []Owner{{ID: "a"}}, []func(*Row){func(r *Row) { r.gap-- }}},
		{StatusNotObserved, "not observed yet", nil, []func(*Row){func(r *Row) { r.At = time.Time{} }}},
		{StatusNotObserved, "not observed yet", nil, []func(*Row){stale, func(r *Row) { r.At = time.Time{} }}},
		{StatusStale, "stale", []Owner{{ID: "a"}}, []func(*Row){func(r *Row) { r.Scope = 7 }}},
	}
	state := &State{At: t0, Scopes: []Scope{{Health: HealthLive, gap: 3}, {Health: HealthStale, gap: 3}}}
	for _, tt := range tests {
		row := &Row{Primitive: prim(t0, tt.owners...), gap: 3}
		for _, change := range tt.changes {
			change(row)
		}
		if got := row.Status(state); got != tt.want || got.String() != tt.word {
			t.Errorf("%+v is %q, want %q", *row.Primitive, got, tt.word)
		}
	}
}

func TestRenewalBecomesLateWithoutAnyChange(t *testing.T) {
	t.Parallel()
	o := Owner{ID: "a", Renewed: Stamp{At: t0, How: Seen}}
	row := &Row{Primitive: prim(t0, o), RenewEvery: 10 * time.Second}
	state := &State{At: t0, Scopes: []Scope{{Health: HealthLive}}}
	if row.Status(state) != StatusLed || row.StatusAt(state, t0.Add(16*time.Second)) != StatusLedLate {
		t.Error("a renewal that is due at 10 s is not late at 16 s")
	}
}

func TestMissedRenewalsAreCounted(t *testing.T) {
	t.Parallel()
	every := 10 * time.Second
	taken := Owner{Since: Stamp{At: t0, How: Seen}}
	tests := []struct {
		name  string
		owner Owner
		every time.Duration
		after time.Duration
		want  int
	}{
		{"in time", Owner{Renewed: Stamp{At: t0, How: Seen}}, every, 14 * time.Second, 0},
		{"one", Owner{Renewed: Stamp{At: t0, How: Seen}}, every, 15 * time.Second, 1},
		{"two", Owner{Renewed: Stamp{At: t0, How: Seen}}, every, 25 * time.Second, 2},
		{"the first since it was taken", taken, every, 15 * time.Second, 1},
		{"it was there before", Owner{Since: Stamp{At: t0, How: AtLeast}}, every, time.Hour, 0},
		{"no usual pause is known", taken, 0, time.Hour, 0},
		{"it needs no renewal", Owner{NoExpiry: true, Since: taken.Since}, every, time.Hour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			row := &Row{Primitive: prim(t0, tt.owner), RenewEvery: tt.every}
			if got := row.Missed(t0.Add(tt.after)); got != tt.want {
				t.Errorf("Missed = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestUsualPauseFollowsSlowlyAndSurvivesAMissedRenewal(t *testing.T) {
	t.Parallel()
	usual := time.Duration(0)
	for range 5 {
		usual = usualPause(usual, 10*time.Second)
	}
	if usual != 10*time.Second {
		t.Errorf("usual = %v after five pauses of 10 s", usual)
	}
	if got := usualPause(usual, 10*time.Minute); got > 13*time.Second {
		t.Errorf("one long pause moves it to %v", got)
	}
	if got := usualPause(usual, 0); got != usual {
		t.Errorf("no pause moves it to %v", got)
	}
	for range 30 {
		usual = usualPause(usual, 2*time.Second)
	}
	if usual > 2100*time.Millisecond {
		t.Errorf("usual = %v after thirty pauses of 2 s", usual)
	}
}
