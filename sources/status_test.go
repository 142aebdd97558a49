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
	kind := func(k Kind) func(*Row) { return func(r *Row) { r.Kind = k } }
	rhythmic := func(renewals int, ago, left, lease time.Duration) Owner { // every 10 s so far
		o := leased(left, lease)
		o.Renewed, o.Rhythm = Stamp{At: t0.Add(-ago), How: Seen}, RhythmOf(10*time.Second, renewals)
		return o
	}
	mutex, sem := kind(KindMutex), kind(KindSemaphore)
	limit := func(taken, limit uint64) func(*Row) {
		return func(r *Row) { r.Kind, r.Limit, r.Taken, r.LimitHow = KindSemaphore, limit, taken, Told }
	}
	noOwners := func(r *Row) { r.OwnersHow = Unknown }
	allCandidates := func(r *Row) { r.Queue.How, r.Queue.CandidatesHow = Told, Told }
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
		{StatusLed, "led", []Owner{leased(11*time.Second, 30*time.Second)}, nil},
		{StatusLed, "led", []Owner{rhythmic(3, 24*time.Second, 29*time.Second, time.Minute)}, nil}, // one pause missed
		{StatusLedLate, "led, renewal late", []Owner{rhythmic(3, 25*time.Second, 29*time.Second, time.Minute)}, nil},
		{StatusLed, "led", []Owner{rhythmic(3, 25*time.Second, 31*time.Second, time.Minute)}, nil}, // more than half is left
		{StatusLed, "led", []Owner{rhythmic(2, 25*time.Second, 29*time.Second, time.Minute)}, nil}, // too few renewals seen
		{StatusLed, "led", []Owner{rhythmic(9, 10*time.Minute, 50*time.Minute, time.Hour)}, nil},
		{StatusLedLate, "led, renewal late", []Owner{leased(0, 0)}, nil},
		{StatusNoLeader, "no leader", nil, nil},
		{StatusNoLeader, "no leader", nil, []func(*Row){func(r *Row) { r.Queue = Queue{How: Told, Len: 2} }}},
		{StatusNoLeader, "no leader", nil, []func(*Row){func(r *Row) { r.Queue.How = Told }}}, // others may try unseen
		{StatusNoLeader, "no leader", nil, []func(*Row){func(r *Row) { r.Queue.CandidatesHow = Told }}},
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
		{StatusHeldSilent, "held, owner silent", []Owner{rhythmic(1, 0, 19*time.Second, time.Minute)}, []func(*Row){mutex}},
		{StatusHeldSilent, "held, owner silent", []Owner{rhythmic(3, 25*time.Second, 29*time.Second, time.Minute)}, []func(*Row){mutex}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(1, 3)}},
		{StatusHeld, "held", nil, []func(*Row){limit(2, 3), noOwners}},
		{StatusFull, "full", []Owner{{ID: "a", Permits: 3}}, []func(*Row){limit(3, 3)}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(1, 1)}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(1<<40, NoLimit)}},
		{StatusHeld, "held", []Owner{{ID: "a"}}, []func(*Row){limit(5, 3), func(r *Row) { r.LimitHow = Unknown }}},
		{StatusConflict, "conflict", []Owner{{ID: "a"}, {ID: "b"}}, nil},
		{StatusConflict, "conflict", []Owner{{ID: "a"}, {ID: "b", Mode: Shared}}, []func(*Row){mutex}},
		{StatusConflict, "conflict", []Owner{{ID: "a", Session: "s", Mode: Shared}, {ID: "b", Session: "t", Mode: Shared}}, nil},
		{StatusLed, "led", []Owner{{ID: "a", Session: "s"}, {ID: "a shared", Session: "s", Mode: Shared}}, nil},
		{StatusHeld, "held", []Owner{{ID: "a", Mode: Shared}, {ID: "b", Mode: Shared}}, []func(*Row){mutex}},
		{StatusHeld, "held", []Owner{{ID: "a", Session: "s"}, {ID: "a shared", Session: "s", Mode: Shared}}, []func(*Row){mutex}},
		{StatusConflict, "conflict", []Owner{{ID: "a", Session: "s"}, {ID: "b", Session: "t", Mode: Shared}}, []func(*Row){mutex}},
		{StatusHeld, "held", []Owner{{ID: "a"}, {ID: "b"}}, []func(*Row){limit(2, 3)}},
		{StatusAbsent, "absent", nil, []func(*Row){func(r *Row) { r.Absent = true }}},
		{StatusAbsent, "absent", nil, []func(*Row){limit(0, 0), func(r *Row) { r.Absent = true }}},
		{StatusStale, "stale", nil, []func(*Row){stale, func(r *Row) { r.Absent = true }}},
		{StatusStale, "stale", nil, []func(*Row){stale}},
		{StatusStale, "stale", []Owner{{ID: "a"}, {ID: "b"}}, []func(*Row){stale}},
		{StatusStale, "stale", []Owner{{ID: "a"}}, []func(*Row){func(r *Row) { r.Listing-- }}},
		{StatusNotObserved, "not observed yet", nil, []func(*Row){func(r *Row) { r.At = time.Time{} }}},
		{StatusNotObserved, "not observed yet", nil, []func(*Row){stale, func(r *Row) { r.At = time.Time{} }}},
		{StatusStale, "stale", []Owner{{ID: "a"}}, []func(*Row){func(r *Row) { r.Scope = 7 }}},
	}
	state := &State{At: t0, Thresholds: DefaultThresholds(), Scopes: []Scope{{Health: HealthLive, Listing: 3}, {Health: HealthStale, Listing: 3}}}
	for _, tt := range tests {
		row := &Row{Primitive: prim(t0, tt.owners...), Listing: 3}
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
	o := until("a", t0.Add(30*time.Second))
	o.Lease = 30 * time.Second
	row := &Row{Primitive: prim(t0, o)}
	state := &State{At: t0, Thresholds: DefaultThresholds(), Scopes: []Scope{{Health: HealthLive}}}
	if row.Status(state) != StatusLed || row.StatusAt(state, t0.Add(20*time.Second)) != StatusLed ||
		row.StatusAt(state, t0.Add(21*time.Second)) != StatusLedLate {
		t.Error("of a lease of 30 s, 10 s left are not the limit")
	}
}

func TestMissedRenewalsAreCounted(t *testing.T) {
	t.Parallel()
	every := func(o Owner, pause time.Duration, renewals int) Owner {
		o.Rhythm = RhythmOf(pause, renewals)
		return o
	}
	taken, renewed := Owner{Since: Stamp{At: t0, How: Seen}}, Owner{Renewed: Stamp{At: t0, How: Seen}}
	tests := []struct {
		name  string
		owner Owner
		after time.Duration
		want  int
	}{
		{"in time", every(renewed, 10*time.Second, 3), 14 * time.Second, 0},
		{"one", every(renewed, 10*time.Second, 3), 15 * time.Second, 1},
		{"two", every(renewed, 10*time.Second, 3), 25 * time.Second, 2},
		{"too few were seen", every(renewed, 10*time.Second, 2), time.Hour, 0},
		{"it was there before", every(Owner{Since: Stamp{At: t0, How: AtLeast}}, 10*time.Second, 3), time.Hour, 0},
		{"no usual pause is known", every(taken, 0, 3), time.Hour, 0},
		{"it needs no renewal", every(Owner{NoExpiry: true, Since: taken.Since}, 10*time.Second, 3), time.Hour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.owner.Missed(t0.Add(tt.after), DefaultThresholds()); got != tt.want {
				t.Errorf("Missed = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestUsualPauseFollowsSlowlyAndSurvivesAMissedRenewal(t *testing.T) {
	t.Parallel()
	var r Rhythm
	for range 5 {
		r = r.renewed(10 * time.Second)
	}
	if r != RhythmOf(10*time.Second, 5) {
		t.Errorf("%+v after five pauses of 10 s", r)
	}
	if got := r.renewed(10 * time.Minute); got.millis() > 13_000 {
		t.Errorf("one long pause moves it to %d ms", got.millis())
	}
	if got := r.renewed(0); got.millis() != r.millis() || got.seen != 6 {
		t.Errorf("a renewal after an unknown pause makes it %+v", got)
	}
	for range 300 {
		r = r.renewed(2 * time.Second)
	}
	if r.millis() > 2100 || r.seen != 255 {
		t.Errorf("%+v after three hundred pauses of 2 s", r)
	}
}
