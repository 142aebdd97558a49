package operate

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
)

func TestAnEffectSaysWhatWouldBeDone(t *testing.T) {
	t.Parallel()
	a, b := sources.Owner{ID: "a", Label: "host-a", Session: "sa", Guard: "g"}, sources.Owner{ID: "b", Label: "host-b", Session: "sb", Guard: "gb"}
	shared := func(list ...sources.Owner) []sources.Owner {
		for i := range list {
			list[i].Mode = sources.Shared
		}
		return list
	}
	queue := func(n int, ids ...string) sources.Queue {
		q := sources.Queue{How: sources.Told, Len: n}
		for _, id := range ids {
			q.Waiters = append(q.Waiters, sources.Waiter{ID: id, Label: id, Session: "s" + id})
		}
		return q
	}
	semaphore := func(d *decision, limit, taken uint64) {
		d.row.Kind, d.row.Limit, d.row.Taken = sources.KindSemaphore, limit, taken
	}
	other := func(name string, owners []sources.Owner, q sources.Queue) *sources.Row {
		return &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: name}, Owners: owners, Queue: q}}
	}
	for name, c := range map[string]struct {
		verb   action.Verb
		change func(d *decision)
		says   []string
		not    []string
		next   string
	}{
		"campaign":             {verb: action.Campaign, says: []string{"You will lead app:lock:x. coordtop does none of the leader's work.", "a cut link is noticed within"}, not: []string{"hold", "queue", "Others see you"}},
		"acquire":              {verb: action.Acquire, says: []string{"You will hold app:lock:x. Programs that need it wait"}, not: []string{"lead", "Taken", "now:"}},
		"left to its TTL":      {verb: action.Acquire, change: func(d *decision) { d.b.RunsOut = true }, says: []string{"longer if it dies without a word"}, not: []string{"cut link"}},
		"nameless":             {verb: action.Acquire, change: func(d *decision) { d.b.Nameless = true }, says: []string{"Others see you as ana@desk:1."}},
		"nameless, JSON":       {verb: action.Acquire, change: func(d *decision) { d.b.Nameless, d.Data = true, []byte("{}") }, not: []string{"Others see you"}},
		"shared":               {verb: action.Acquire, change: func(d *decision) { d.Mode = sources.Shared }, says: []string{"You will share app:lock:x"}, not: []string{"Taken"}},
		"shared beside others": {verb: action.Acquire, change: func(d *decision) { d.Mode, d.row.Owners, d.row.Queue = sources.Shared, shared(a, b), queue(0) }, says: []string{"Shared by host-a and 1 more now: you own it beside them at once."}},
		"shared behind a queue": {verb: action.Acquire, change: func(d *decision) {
			d.Mode, d.row.Owners, d.row.Queue, d.b.Caps.FIFO = sources.Shared, shared(a), queue(2), true
		}, says: []string{"host-a owns it now: you wait in the server's queue, behind 2."}},
		"shared, no queue told": {verb: action.Acquire, change: func(d *decision) { d.Mode, d.row.Owners, d.b.Caps.FIFO = sources.Shared, shared(a), true }, says: []string{"host-a owns it now: you wait in the server's queue. Those"}},
		"shared, owned alone": {verb: action.Acquire, change: func(d *decision) {
			d.Mode, d.row.Owners, d.row.Queue, d.b.Caps.FIFO = sources.Shared, []sources.Owner{a}, queue(0), true
		}, says: []string{"host-a owns it now: you wait in the server's queue and come next."}},
		"alone, owned shared":  {verb: action.Acquire, change: func(d *decision) { d.row.Owners, d.row.Queue, d.b.Caps.FIFO = shared(a, b), queue(0), true }, says: []string{"host-a and 1 more own it now: you wait"}},
		"a try that will miss": {verb: action.Try, change: func(d *decision) { d.row.Owners, d.b.Caps.FIFO = []sources.Owner{a}, true }, says: []string{"host-a owns it now: the try will miss unless it becomes free first."}},
		"no queue":             {verb: action.Acquire, change: func(d *decision) { d.row.Owners = []sources.Owner{a} }, says: []string{"host-a owns it now, and redis keeps no queue"}},
		"one permit":           {verb: action.Acquire, change: func(d *decision) { semaphore(d, 3, 1) }, says: []string{"You will take 1 of 3 permits of app:lock:x. That leaves 1 free."}, not: []string{"now"}},
		"all permits":          {verb: action.Acquire, change: func(d *decision) { semaphore(d, 3, 0); d.Permits = 3 }, says: []string{"You will take 3 of 3 permits of app:lock:x. That leaves 0 free."}},
		"more than are free":   {verb: action.Acquire, change: func(d *decision) { semaphore(d, 3, 2); d.Permits, d.row.Owners = 2, []sources.Owner{a} }, says: []string{"You will take 2 of 3 permits", "1 of 3 permits are free now, and redis keeps no queue"}, not: []string{"That leaves"}},
		"behind those who wait": {verb: action.Acquire, change: func(d *decision) {
			semaphore(d, 3, 1)
			d.row.Owners, d.row.Queue, d.b.Caps.FIFO = []sources.Owner{a}, queue(1, "w"), true
		}, says: []string{"2 of 3 permits are free now: you wait in the server's queue, behind 1."}},
		"permits of an unknown limit": {verb: action.Acquire, change: func(d *decision) { semaphore(d, 3, 1); d.row.LimitHow, d.Permits = sources.Unknown, 2 }, says: []string{"You will take 2 permits of app:lock:x. That leaves fewer for the others."}},
		"permits of what is absent":   {verb: action.Acquire, change: func(d *decision) { semaphore(d, 3, 1); d.row.Absent = true }, says: []string{"You will take 1 permit of app:lock:x. That leaves fewer"}},

		"resign":                 {verb: action.Resign, says: []string{"You give it up."}, next: "whoever asks first: there is no queue that we could see"},
		"resign what some await": {verb: action.Resign, change: func(d *decision) { d.row.Queue = queue(2, "w", "v") }, next: "w is first in the queue"},
		"resign, and none waits": {verb: action.Resign, change: func(d *decision) { d.row.Queue = queue(0) }, next: "nobody waits in the queue"},
		"resign, and some do":    {verb: action.Resign, change: func(d *decision) { d.row.Queue = queue(3) }, next: "one of the 3 in the queue, who are not told"},
		"resign, shared":         {verb: action.Resign, change: func(d *decision) { d.row.Owners, d.row.Queue = shared(d.row.Owners[0], a), queue(1, "w") }, next: "nobody, as long as 1 more of its owners keeps it"},
		"release":                {verb: action.Release, change: func(d *decision) { d.row.Queue = queue(1, "w") }, says: []string{"Ends the ownership of host-a, if it is still the owner just then."}, not: []string{"more of its owners", "falls", "fall too", "In the last hour"}, next: "w is first in the queue"},
		"release one who shares": {verb: action.Release, change: func(d *decision) { d.row.Owners, d.row.Queue = shared(a, b), queue(1, "w") }, says: []string{"1 more of its owners keeps it."}, next: "nobody, as long as 1 more of its owners keeps it"},
		"release a session": {verb: action.Release, change: func(d *decision) {
			c := b
			c.Session = "sa"
			d.row.Owners, d.row.Queue, d.b.Force.WholeSession = shared(a, c), queue(1, "w"), true
		}, not: []string{"more of its owners"}, next: "w is first in the queue"},
		"release of no session": {verb: action.Release, change: func(d *decision) {
			a, c := a, b
			a.Session, c.Session = "", ""
			d.row.Owners, d.row.Queue, d.b.Force.WholeSession = shared(a, c), queue(1, "w"), true
		}, says: []string{"1 more of its owners keeps it."}},
		"release, not a session": {verb: action.Release, change: func(d *decision) { c := b; c.Session = "sa"; d.row.Owners, d.row.Queue = shared(a, c), queue(1, "w") }, says: []string{"1 more of its owners keeps it."}},
		"release all of them": {verb: action.Release, change: func(d *decision) {
			d.row.Owners, d.row.Queue, d.b.Force.AllOwners = []sources.Owner{a, b}, queue(1, "w"), true
		}, not: []string{"more of its owners"}, next: "whoever asks first: the queue is lost"},
		"release with its rest": {verb: action.Release, change: func(d *decision) {
			d.b.Force.WholeSession = true
			d.state.Rows = []*sources.Row{nil, d.row, other("x1", []sources.Owner{a}, queue(2)), other("x2", []sources.Owner{b}, queue(1, "a"))}
		}, says: []string{"Its session ends, so these fall too: x1 (2 wait for them).", "It stops waiting for x2."}},
		"release without a rest": {verb: action.Release, change: func(d *decision) { d.state.Rows = []*sources.Row{other("x1", []sources.Owner{a}, queue(2))} }, not: []string{"x1"}},
		"release beside a source": {verb: action.Release, change: func(d *decision) {
			d.b.Force.WholeSession = true
			o := other("x1", []sources.Owner{a}, queue(2))
			o.Source = "t"
			d.state.Rows = []*sources.Row{o}
		}, not: []string{"x1"}},
		"release, its words": {verb: action.Release, change: func(d *decision) {
			d.b.Force.Effect = func(_ *sources.Row, w *sources.Owner) []string { return []string{"Of " + w.Label + "."} }
		}, says: []string{"Of host-a."}},
		"release of one gone":   {verb: action.Release, change: func(d *decision) { d.row.Owners = nil }, says: []string{"Ends the ownership of host-a"}},
		"release without a way": {verb: action.Release, change: func(d *decision) { d.b.Force = nil }, says: []string{"Ends the ownership of host-a"}},
		"cancel":                {verb: action.CancelWait, says: []string{"Ends the wait of host-w, if it still waits just then.", "It leaves."}},
		"crash":                 {verb: action.Crash, says: []string{"Ends the process of host-a with SIGKILL"}},
		"create":                {verb: action.Create, says: []string{"Creates app:lock:x with a limit of permits"}},
		"create an election":    {verb: action.Create, change: func(d *decision) { d.row.Kind = sources.KindElection }, says: []string{"Creates app:lock:x with a limit of 1"}},
		"update":                {verb: action.Update, says: []string{"Replaces the data of app:lock:x itself"}},
		"delete":                {verb: action.Delete, says: []string{"Deletes app:lock:x"}, not: []string{"Its data is lost"}},
		"delete with data":      {verb: action.Delete, change: func(d *decision) { d.row.Data = sources.NewBlob([]byte("abc"), 3) }, says: []string{"Its data is lost: 3 bytes."}},
		"proclaim":              {verb: action.Proclaim, says: []string{"Replaces the data that others see beside us."}},
		"create a node":         {verb: action.CreateNode, change: func(d *decision) { d.row.Space, d.Target.Ref.Space = "/n", "/n" }, says: []string{"Creates /n, and the directories"}},
	} {
		journal := filepath.Join(t.TempDir(), "audit.jsonl")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, c.verb, journal)
			d := w.view.now
			owner := d.Target
			if c.change != nil {
				c.change(d)
			}
			r := d.Request
			r.Target = owner
			r.Target.Kind, r.Target.Ref = d.row.Kind, d.row.Ref
			if c.verb == action.Resign {
				w.mu.Lock()
				h := newHolding(&run{Run: action.Run{Request: r}}, time.Now())
				s, lease := leaseOf(t, w)
				h.ref, h.waiting, h.lease = d.row.Ref, false, lease
				w.held = append(w.held, h)
				w.mu.Unlock()
				d.row.Owners[0].ID = lease.Owner()
				defer func() { _ = s.Close(t.Context()) }()
			}
			w.operatorAs(*d.b)
			e, err := w.Describe(t.Context(), r)
			text := strings.Join(e.Lines, "\n")
			if err != nil || e.Next != c.next && c.next != "" {
				t.Errorf("%s: %v, next %q, want %q", name, err, e.Next, c.next)
			}
			for _, says := range c.says {
				if !strings.Contains(text, says) {
					t.Errorf("%s: it does not say %q: %q", name, says, text)
				}
			}
			for _, not := range c.not {
				if strings.Contains(text, not) {
					t.Errorf("%s: it says %q: %q", name, not, text)
				}
			}
			w.mu.Lock()
			w.held = nil
			w.mu.Unlock()
		})
	}
}

func TestWhatMustBeTypedCanBeTypedAndIsNeverNothing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	asked := map[string]bool{}
	for name, want := range map[string]string{
		"": `""`, " ": `" "`, " a": `" a"`, "a ": `"a "`, "a": "a", "a b": "a b", "\n": `"\n"`, long: long,
		"a\x1bb": `"a\x1bb"`, `a\x1bb`: `a\x1bb`, `"a\x1bb"`: `"\"a\\x1bb\""`, "sha256:000000000000": `"sha256:000000000000"`, "a\u200b": `"a\u200b"`,
		long + "a": "sha256:", long + "b": "sha256:", long + " ": "sha256:", strings.Repeat(" ", 22): `"` + strings.Repeat(" ", 22) + `"`, strings.Repeat(" ", 23): "sha256:",
	} {
		r := action.Request{Verb: action.Release, Target: action.Target{Ref: sources.Ref{Name: name}}}
		typed := nameFor(&Backend{}, r)
		got := typed
		if short, _, hashed := strings.Cut(got, ":"); hashed && got[0] != '"' {
			got = short + ":"
		}
		if got != want || asked[typed] || strings.TrimSpace(typed) != typed {
			t.Errorf("%q: type %q, want %q", name, typed, want)
		}
		asked[typed] = true
		if got := nameFor(&Backend{Demo: true}, r); got != "" {
			t.Errorf("%q: type %q in the demo", name, got)
		}
		if r.Verb = action.Resign; nameFor(&Backend{}, r) != "" {
			t.Errorf("%q: a name must be typed to give up what is ours", name)
		}
	}
}
