package action_test

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
)

// decided is the row that a person decided about: one of several that own it.
func decided() *sources.Row {
	return &sources.Row{Primitive: &sources.Primitive{
		Ref: sources.Ref{Source: "s", Space: "0", Name: "x"}, Kind: sources.KindSemaphore, Data: sources.NewBlob([]byte("hello"), 5),
		Owners: []sources.Owner{
			{ID: "0", Label: "host-z"},
			{ID: "1", Label: "host-a", Fence: 7, Guard: "g", Mode: sources.Shared, Permits: 2},
		},
	}}
}

// free is the same row without an owner.
func free() *sources.Row {
	row := decided()
	row.Owners = nil
	return row
}

func TestARowIsStillWhatWasDecidedAbout(t *testing.T) {
	t.Parallel()
	const nothing = ""
	first := func(row *sources.Row) *sources.Owner { return &row.Owners[len(row.Owners)-1] }
	unowned := func(row *sources.Row) { row.Owners = nil }
	unguarded := func(row *sources.Row) { first(row).Guard = "" }
	for _, c := range []struct {
		name          string
		before, after func(*sources.Row) // nil: as decided
		owner, guard  string             // what is said with each pin; "same": as owner
		data          string
	}{
		{name: "nothing", owner: nothing, guard: nothing},
		{name: "another name", after: func(r *sources.Row) { r.Name = "y" }, owner: "not listed", guard: "not listed", data: "not listed"},
		{name: "another space", after: func(r *sources.Row) { r.Space = "1" }, owner: "not listed", guard: "not listed", data: "not listed"},
		{name: "another kind", after: func(r *sources.Row) { r.Kind = sources.KindMutex }, owner: "as semaphore when you decided, now as mutex", guard: "mutex", data: "mutex"},
		{name: "deleted", after: func(r *sources.Row) { r.Absent = true }, owner: "now it does not", guard: "now it does not", data: "now it does not"},
		{
			name: "created", before: func(r *sources.Row) { r.Absent, r.Owners = true, nil }, after: unowned,
			owner: "did not exist when you decided, now it does", guard: "did not exist", data: "did not exist",
		},
		{name: "id", after: func(r *sources.Row) { first(r).ID, first(r).Label = "2", "host-b" }, owner: "host-a owned it when you decided, now host-z and 1 more do", guard: "host-a owned it"},
		{name: "one other", after: func(r *sources.Row) { r.Owners = []sources.Owner{{ID: "2", Label: "host-b"}} }, owner: "host-a owned it when you decided, now host-b does", guard: "now host-b does"},
		{name: "the same name", after: func(r *sources.Row) { r.Owners = []sources.Owner{{ID: "2", Label: "host-a"}} }, owner: "now another owner of that name does", guard: "another owner"},
		{
			name: "two others, the first of the same name", after: func(r *sources.Row) { r.Owners = []sources.Owner{{ID: "2", Label: "host-a"}, {ID: "3"}} },
			owner: "now host-a and 1 more do", guard: "now host-a and 1 more do",
		},
		{
			name: "absent", before: func(r *sources.Row) { r.Absent, r.Owners = true, nil }, after: func(r *sources.Row) { r.Absent, r.Owners = true, nil },
			owner: nothing, guard: "nobody owned it when you decided",
		},
		{name: "gone", after: unowned, owner: "host-a owned it when you decided, now nobody does", guard: "nobody does"},
		{name: "taken", before: unowned, owner: "nobody owned it when you decided, now host-z and 1 more do", guard: "nobody owned it"},
		{name: "free", before: unowned, after: unowned, owner: nothing, guard: "nobody owned it when you decided"},
		{name: "fence", after: func(r *sources.Row) { first(r).Fence = 8 }, owner: "host-a owned it with fence 7 when you decided, now with fence 8", guard: "fence 8"},
		{name: "a fence that is told no more", after: func(r *sources.Row) { first(r).Fence = 0 }, owner: "now with no fence", guard: "no fence"},
		{name: "a fence that was not told", before: func(r *sources.Row) { first(r).Fence = 0 }, owner: "with no fence when you decided, now with fence 7", guard: "fence 7"},
		{name: "guard", after: func(r *sources.Row) { first(r).Guard = "h" }, owner: "another value when you decided", guard: "another value"},
		{name: "a guard that is told no more", after: unguarded, owner: "another value", guard: "another value"},
		{name: "a guard that was not told", before: unguarded, owner: "another value", guard: "another value"},
		{name: "no guard", before: unguarded, after: unguarded, owner: nothing, guard: "nothing is known of host-a by which"},
		{name: "mode", after: func(r *sources.Row) { first(r).Mode = sources.Exclusive }, owner: "in shared mode when you decided, now in exclusive mode", guard: "mode"},
		{name: "permits", after: func(r *sources.Row) { first(r).Permits = 1 }, owner: "2 of its permits when you decided, now 1", guard: "permits"},
		{
			name: "one permit, told or not", before: func(r *sources.Row) { first(r).Permits = 0 }, after: func(r *sources.Row) { first(r).Permits = 1 },
			owner: nothing, guard: nothing,
		},
		{name: "its own data", after: func(r *sources.Row) { r.Data = sources.NewBlob([]byte("other"), 5) }, owner: nothing, guard: nothing, data: "its data was another"},
		{
			name: "twice an owner", after: func(r *sources.Row) { r.Owners = append([]sources.Owner{{ID: "1", Fence: 9}}, r.Owners...) },
			owner: nothing, guard: nothing,
		},
	} {
		before, after := decided(), decided()
		if c.before != nil {
			c.before(before)
		}
		if c.after != nil {
			c.after(after)
		}
		var owner *sources.Owner
		if len(before.Owners) > 0 {
			owner = first(before)
		}
		target := action.TargetOf(before, owner)
		for pin, says := range map[action.Pin]string{action.PinOwner: c.owner, action.PinGuard: c.guard, action.PinData: c.data} {
			if got := target.Changed(after, pin); got == "" != (says == "") || !strings.Contains(got, says) {
				t.Errorf("%s, pin %d: %q, want %q", c.name, pin, got, says)
			}
		}
		if got := target.Changed(after, 0); got == "" {
			t.Errorf("%s: it is the same for an action that depends on nothing that is known", c.name)
		}
		if got := target.Changed(after, action.PinLease); got != "" {
			t.Errorf("%s: our own lease depends on %q", c.name, got)
		}
	}
}

func TestWhoQueuesWaitsForWhoeverOwnsIt(t *testing.T) {
	t.Parallel()
	row := decided()
	target := action.TargetOf(row, &row.Owners[1])
	for name, now := range map[string]*sources.Row{"the same": decided(), "free": free()} {
		if got := target.Changed(now, action.PinName); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	other := decided()
	other.Kind = sources.KindElection
	if target.Changed(other, action.PinName) == "" || target.Changed(nil, action.PinName) == "" {
		t.Error("another kind, or no row, is the same")
	}
	elsewhere := decided()
	elsewhere.Source = "t"
	if target.Changed(elsewhere, action.PinName) == "" {
		t.Error("the same name at another source is the same")
	}
}

func TestOneThatWaitsIsStillTheOneThatWasDecidedAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after func(w *sources.Waiter)
		says  string // "": it is the same
	}{
		"the same":             {func(*sources.Waiter) {}, ""},
		"another label":        {func(w *sources.Waiter) { w.Label = "host-x" }, ""},
		"one permit, not told": {func(w *sources.Waiter) { w.Permits = 0 }, ""},
		"another":              {func(w *sources.Waiter) { w.ID = "3" }, "host-w waited when you decided, now it does not"},
		"another guard":        {func(w *sources.Waiter) { w.Guard = "h" }, "host-w waits for something else"},
		"a guard not told":     {func(w *sources.Waiter) { w.Guard = "" }, "nothing is known of host-w by which"},
		"another mode":         {func(w *sources.Waiter) { w.Mode = sources.Exclusive }, "host-w waits for something else"},
		"more permits":         {func(w *sources.Waiter) { w.Permits = 2 }, "host-w waits for something else"},
	} {
		queued := func() *sources.Row {
			row := decided()
			row.Queue.Waiters = []sources.Waiter{{ID: "1", Label: "host-v", Guard: "g"}, {ID: "2", Label: "host-w", Guard: "g", Mode: sources.Shared, Permits: 1}}
			return row
		}
		before, row := queued(), queued()
		c.after(&row.Queue.Waiters[1])
		target := action.TargetOfWaiter(before, &before.Queue.Waiters[1])
		if got := target.Changed(row, action.PinGuard); got == "" != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
		row.Queue = sources.Queue{}
		if got := target.Changed(row, action.PinGuard); !strings.Contains(got, "now it does not") {
			t.Errorf("%s, with nobody waiting: %q", name, got)
		}
	}
}

func TestWritingIsPossibleUntilItsEndOrAlways(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		armed  time.Time
		always bool
		want   bool
	}{
		{time.Time{}, false, false}, {now.Add(time.Nanosecond), false, true}, {now, false, false}, {now.Add(-time.Second), false, false},
		{time.Time{}, true, true}, {now.Add(-time.Second), true, true},
	} {
		if s := (action.Status{Armed: c.armed, Always: c.always}); s.CanWrite(now) != c.want {
			t.Errorf("armed until %v from now, always %v: can write %v", c.armed.Sub(now), c.always, !c.want)
		}
	}
}

func TestOwnersOfOtherPeopleAreNamedWithoutControlCharacters(t *testing.T) {
	t.Parallel()
	row := free()
	target := action.TargetOf(row, nil)
	row.Owners = []sources.Owner{{ID: "\x1b[2J"}}
	if got := target.Changed(row, action.PinOwner); !strings.Contains(got, `\x1b[2J`) {
		t.Errorf("%q", got)
	}
}

func TestATargetGoesByItsNameAndByAnAliasThatIsNoGuess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alias string
		how   sources.Known
		typed string
		means bool
	}{
		{"", sources.Unknown, "4242", true}, {"", sources.Unknown, "", false}, {"job", sources.Told, "4242", true},
		{"job", sources.Told, "job", true}, {"job", sources.Inferred, "job", false}, {"job", sources.Inferred, "4242", true}, {"job", sources.Told, "jo", false},
	} {
		row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Name: "4242"}, Alias: c.alias, AliasHow: c.how}}
		if target := action.TargetOf(row, nil); target.GoesBy(c.typed, "4242") != c.means {
			t.Errorf("%q, alias %q (%v): means it %v", c.typed, c.alias, c.how, !c.means)
		}
	}
}
