package operate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

// allowed is a decision that every guard lets pass: about a mutex, an election, or what exists by
// itself, at a source that can do everything.
func allowed(v action.Verb) *decision {
	d := &decision{
		b: &Backend{
			Type: "redis", Identity: "ana@desk:1", Caps: coord.Caps{Mutex: true, Election: true, Semaphore: true, Shared: true, MaxData: 20},
			Force: &Force{Cancel: "It leaves."}, Provisions: true,
			Nodes: &Nodes{}, Crash: func(sources.Ref, sources.OwnerRef) error { return nil },
		},
		writing: &writing{always: true, now: time.Now, slept: func() time.Duration { return 0 }, unlocked: map[string]arming{"s": {}}},
		state:   &sources.State{Scopes: []sources.Scope{{Health: sources.HealthLive}}},
	}
	owner := sources.Owner{ID: "a", Label: "host-a", Session: "sa", Guard: "g", Mode: sources.Exclusive}
	us := action.Holding{Owner: "us"}
	p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "app:lock:x"}, Kind: sources.KindMutex, OwnersHow: sources.Told, Limit: 1, LimitHow: sources.Told}
	d.row = &sources.Row{Primitive: p}
	switch v {
	case action.Campaign:
		p.Kind = sources.KindElection
	case action.Proclaim:
		p.Kind = sources.KindElection
		p.Owners, d.ours = []sources.Owner{{ID: "us", Label: "us"}}, &us
	case action.Resign:
		p.Owners, d.ours = []sources.Owner{{ID: "us", Label: "us"}}, &us
	case action.Release, action.Crash:
		p.Owners = []sources.Owner{owner}
	case action.CancelWait:
		p.Owners = []sources.Owner{owner}
		p.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Label: "host-w", Guard: "gw"}}}
	case action.Create, action.CreateNode:
		p.Kind, p.Absent, p.NoSpace = sources.KindSemaphore, true, v == action.CreateNode
	case action.Update, action.Delete:
		p.Kind, p.Limit = sources.KindSemaphore, 3
	}
	d.decideOn(v)
	return d
}

// decideOn makes the request about the row as it is.
func (d *decision) decideOn(v action.Verb) {
	var w *sources.Owner
	if len(d.row.Owners) > 0 {
		w = &d.row.Owners[0]
	}
	d.Request = action.Request{Verb: v, Target: action.TargetOf(d.row, w)}
	if v == action.CancelWait {
		d.Target = action.TargetOfWaiter(d.row, &d.row.Queue.Waiters[0])
	}
	d.Typed = nameFor(d.b, d.Request)
}

func TestEachGuardRefusesWhatItMustAndNothingElse(t *testing.T) {
	t.Parallel()
	const none = action.Verb(0)
	all := action.Verbs()
	verbs := func(list ...action.Verb) []action.Verb { return list }
	var every, others []action.Verb // others: that do not give back what is ours
	for _, v := range all {
		if v.Text == "" && v.Space { // it is about no row
			continue
		}
		every = append(every, v.Verb)
		if v.Verb != action.Resign {
			others = append(others, v.Verb)
		}
	}
	claims, waits := verbs(action.Acquire, action.Campaign, action.Try), verbs(action.Acquire, action.Try)
	semaphore := func(change func(d *decision)) func(*decision) {
		return func(d *decision) {
			d.row.Kind, d.Target.Kind, d.row.Limit, d.row.Taken = sources.KindSemaphore, sources.KindSemaphore, 3, 1
			change(d)
		}
	}
	protected := func(change func(d *decision)) func(*decision) {
		return func(d *decision) {
			d.b.Protect, d.Reason, d.writing.always = true, "why", false
			d.writing.armed = arming{at: time.Now()}
			d.writing.unlocked["s"] = d.writing.armed
			change(d)
		}
	}
	for name, c := range map[string]struct {
		verbs  []action.Verb
		change func(d *decision)
		want   error // nil: it is let pass
		says   string
	}{
		"nothing": {verbs: every, change: func(*decision) {}},

		"read-only": {verbs: every, change: func(d *decision) { d.b.ReadOnly = true }, want: ErrReadOnly, says: "read_only for s"},

		"protected, without a reason":                     {verbs: others, change: protected(func(d *decision) { d.Reason = "" }), want: ErrUnconfirmed, says: "give a reason"},
		"protected, with a reason":                        {verbs: every, change: protected(func(*decision) {})},
		"not protected, without a reason":                 {verbs: every, change: func(d *decision) { d.Reason = "" }},
		"protected, giving up without a reason or arming": {verbs: verbs(action.Resign), change: protected(func(d *decision) { d.Reason, d.writing = "", &writing{now: time.Now} })},
		"protected, armed by the name of another":         {verbs: others, change: protected(func(d *decision) { d.writing.unlocked = map[string]arming{"t": d.writing.armed} }), want: ErrNotArmed, says: "typing its name"},
		"protected, its name typed long ago":              {verbs: others, change: protected(func(d *decision) { d.writing.unlocked["s"] = arming{at: time.Now().Add(-action.ArmedFor)} }), want: ErrNotArmed, says: "typing its name"},
		"protected, its name typed, always":               {verbs: others, change: protected(func(d *decision) { d.writing.always, d.writing.unlocked["s"] = true, arming{} })},
		"protected, its name not typed, always":           {verbs: others, change: protected(func(d *decision) { d.writing.always, d.writing.unlocked = true, nil }), want: ErrNotArmed, says: "typing its name"},
		"not protected, armed by another":                 {verbs: every, change: protected(func(d *decision) { d.b.Protect, d.writing.unlocked = false, nil })},
		"not armed":                                       {verbs: others, change: func(d *decision) { d.writing.always = false }, want: ErrNotArmed, says: "arm it first"},
		"not armed, giving up":                            {verbs: verbs(action.Resign), change: func(d *decision) { d.writing.always = false }},
		"armed just long enough ago": {verbs: others, change: func(d *decision) {
			d.writing.always, d.writing.armed = false, arming{at: time.Now().Add(-action.ArmedFor)}
		}, want: ErrNotArmed, says: "arm it first"},
		"armed less long ago": {verbs: others, change: func(d *decision) {
			d.writing.always, d.writing.armed = false, arming{at: time.Now().Add(time.Minute - action.ArmedFor)}
		}},
		"armed less long ago, by a machine that has slept": {verbs: others, change: func(d *decision) {
			d.writing.always, d.writing.armed, d.writing.slept = false, arming{at: time.Now()}, func() time.Duration { return action.ArmedFor }
		}, want: ErrNotArmed},

		"no row":                          {verbs: others, change: func(d *decision) { d.row = nil }, want: ErrNotPossible, says: "app:lock:x is not on our watch"},
		"no row, giving up ours":          {verbs: verbs(action.Resign), change: func(d *decision) { d.row = nil }},
		"no row, giving up nothing":       {verbs: verbs(action.Resign), change: func(d *decision) { d.row, d.ours = nil, nil }, want: ErrNotPossible, says: "not on our watch"},
		"a row that is old":               {verbs: append(claims, action.Release, action.CancelWait, action.Crash, action.Create, action.Update, action.Delete, action.CreateNode), change: func(d *decision) { d.state.Scopes[0].Health = sources.HealthStale }, want: ErrNotPossible, says: "since its source is silent"},
		"a row that is old, what is ours": {verbs: verbs(action.Resign, action.Proclaim), change: func(d *decision) { d.state.Scopes[0].Health = sources.HealthStale }},

		"another owner":                              {verbs: verbs(action.Release, action.Crash), change: func(d *decision) { d.row.Owners[0].ID, d.row.Owners[0].Label = "b", "host-b" }, want: ErrChanged, says: "host-a owned it when you decided, now host-b does; nothing was sent"},
		"the owner wrote again":                      {verbs: verbs(action.Release, action.Crash), change: func(d *decision) { d.row.Owners[0].Guard = "h" }, want: ErrChanged, says: "another value"},
		"the owner has no guard":                     {verbs: verbs(action.Release), change: func(d *decision) { d.row.Owners[0].Guard, d.Target.Guard = "", "" }, want: ErrNotPossible, says: "by which the server could tell it"},
		"the owner has a guard no more":              {verbs: verbs(action.Release), change: func(d *decision) { d.row.Owners[0].Guard = "" }, want: ErrChanged, says: "another value"},
		"the owner got a guard":                      {verbs: verbs(action.Release), change: func(d *decision) { d.Target.Guard = "" }, want: ErrChanged, says: "another value"},
		"the owner had no guard, and is another":     {verbs: verbs(action.Release), change: func(d *decision) { d.Target.Guard, d.row.Owners[0].ID = "", "b" }, want: ErrChanged},
		"the owner that crashes has no guard":        {verbs: verbs(action.Crash), change: func(d *decision) { d.row.Owners[0].Guard, d.Target.Guard = "", "" }, want: ErrChanged, says: "by which a change of owner could be noticed"},
		"somebody took it":                           {verbs: verbs(action.Try), change: func(d *decision) { d.row.Owners = []sources.Owner{{ID: "b", Label: "host-b"}} }, want: ErrChanged, says: "nobody owned it when you decided, now host-b does"},
		"somebody took it, and we wait":              {verbs: verbs(action.Acquire, action.Campaign), change: func(d *decision) { d.row.Owners = []sources.Owner{{ID: "b", Label: "host-b"}} }},
		"it was taken, and is":                       {verbs: verbs(action.Try), change: func(d *decision) { d.row.Owners = []sources.Owner{{ID: "b", Label: "host-b"}}; d.decideOn(action.Try) }, want: ErrTaken, says: "owned by host-b"},
		"it became another kind":                     {verbs: append(claims, action.Release, action.Delete), change: func(d *decision) { d.row.Kind = sources.KindUnknown }, want: ErrChanged, says: "now as unknown"},
		"another waits":                              {verbs: verbs(action.CancelWait), change: func(d *decision) { d.row.Queue.Waiters[0].ID = "v" }, want: ErrChanged, says: "host-w waited when you decided"},
		"it waits for something else":                {verbs: verbs(action.CancelWait), change: func(d *decision) { d.row.Queue.Waiters[0].Guard = "gv" }, want: ErrChanged, says: "waits for something else"},
		"its data is another":                        {verbs: verbs(action.Update), change: func(d *decision) { d.row.Data = sources.NewBlob([]byte("other"), 5) }, want: ErrChanged, says: "its data was another"},
		"somebody took one of several permits":       {verbs: verbs(action.Try), change: semaphore(func(d *decision) { d.row.Owners = []sources.Owner{{ID: "b"}} })},
		"somebody took the only permit":              {verbs: verbs(action.Try), change: semaphore(func(d *decision) { d.row.Limit, d.row.Owners = 1, []sources.Owner{{ID: "b"}} }), want: ErrChanged},
		"an old row, of which the owner has changed": {verbs: verbs(action.Release), change: func(d *decision) { d.row.Owners[0].ID = "b"; d.state.Scopes[0].Health = sources.HealthStale }, want: ErrNotPossible, says: "silent"},
		"it exists by now":                           {verbs: verbs(action.Create), change: func(d *decision) { d.row.Absent = false }, want: ErrChanged, says: "did not exist"},

		"ours, and an owner that is gone":    {verbs: verbs(action.Resign, action.Proclaim), change: func(d *decision) { d.Target.Owner, d.Target.Label = "b", "host-b" }, want: ErrChanged, says: "host-b owned it when you decided, now us does"},
		"ours, and another that owns it too": {verbs: verbs(action.Resign, action.Proclaim), change: func(d *decision) { d.Target.Owner, d.row.Owners = "b", append(d.row.Owners, sources.Owner{ID: "b"}) }},
		"ours, and nobody was on screen":     {verbs: verbs(action.Resign, action.Proclaim), change: func(d *decision) { d.Target.Owner = "" }},
		"ours, and the session that we are":  {verbs: verbs(action.Resign), change: func(d *decision) { d.Target.Owner, d.row.Owners[0].Session = "t", "t" }},
		"we wait, and the owner has changed": {verbs: verbs(action.Resign), change: func(d *decision) { d.ours.Waiting, d.ours.Owner, d.Target.Owner = true, "", "b" }},
		"ours, and not shown yet":            {verbs: verbs(action.Resign, action.Proclaim), change: func(d *decision) { d.row.Owners = nil }},
		"not ours":                           {verbs: verbs(action.Resign, action.Proclaim), change: func(d *decision) { d.ours = nil }, want: ErrNotPossible, says: "not ours"},
		"not ours, and the owner changed":    {verbs: verbs(action.Resign), change: func(d *decision) { d.ours, d.Target.Owner = nil, "b" }, want: ErrNotPossible, says: "not ours"},
		"ours, released by force":            {verbs: verbs(action.Release), change: func(d *decision) { d.ours = &action.Holding{Owner: "a"} }, want: ErrNotPossible, says: "ours: resign"},
		"we wait, and release another":       {verbs: verbs(action.Release), change: func(d *decision) { d.ours = &action.Holding{Owner: "a", Waiting: true} }},
		"another is ours too":                {verbs: verbs(action.Release), change: func(d *decision) { d.ours = &action.Holding{Owner: "us"} }},
		"ours already":                       {verbs: claims, change: func(d *decision) { d.ours = &action.Holding{Owner: "us"} }, want: ErrNotPossible, says: "ours already"},
		"we wait already":                    {verbs: claims, change: func(d *decision) { d.ours = &action.Holding{Waiting: true} }, want: ErrNotPossible, says: "we wait for it already"},
		"proclaiming before we lead":         {verbs: verbs(action.Proclaim), change: func(d *decision) { d.ours.Waiting = true }, want: ErrNotPossible, says: "do not lead yet"},
		"proclaiming a mutex":                {verbs: verbs(action.Proclaim), change: func(d *decision) { d.row.Kind, d.Target.Kind = sources.KindMutex, sources.KindMutex }, want: ErrNotPossible, says: "only a leader"},
		"a release of one that waits":        {verbs: verbs(action.Release), change: func(d *decision) { d.Target.Waiting = true }, want: ErrChanged},
		"a release of one that waits, unchanged": {verbs: verbs(action.Release), change: func(d *decision) {
			d.row.Queue.Waiters = []sources.Waiter{{ID: "w", Guard: "gw"}}
			d.Target = action.TargetOfWaiter(d.row, &d.row.Queue.Waiters[0])
			d.Typed = nameFor(d.b, d.Request)
		}, want: ErrNotPossible, says: "release is for one that owns"},
		"a cancel of one that owns": {verbs: verbs(action.CancelWait), change: func(d *decision) { d.Target = action.TargetOf(d.row, &d.row.Owners[0]) }, want: ErrNotPossible, says: "cancel for one that waits"},
		"a release of no owner":     {verbs: verbs(action.Release), change: func(d *decision) { d.row.Owners = nil; d.decideOn(action.Release) }, want: ErrChanged, says: "nobody owned it when you decided"},

		"the name is not typed":             {verbs: append(claims, action.Release, action.CancelWait, action.Update, action.Delete), change: func(d *decision) { d.Typed = "" }, want: ErrUnconfirmed, says: "type app:lock:x"},
		"another name is typed":             {verbs: append(claims, action.Release, action.CancelWait, action.Update, action.Delete), change: func(d *decision) { d.Typed = "app:lock:y" }, want: ErrUnconfirmed, says: "type app:lock:x"},
		"no name is typed where none must":  {verbs: verbs(action.Resign, action.Proclaim, action.Crash, action.Create, action.CreateNode), change: func(d *decision) { d.Typed = "" }},
		"no name is typed in the demo":      {verbs: every, change: func(d *decision) { d.b.Demo, d.Typed = true, "" }},
		"another name is typed in the demo": {verbs: every, change: func(d *decision) { d.b.Demo, d.Typed = true, "app:lock:y" }},

		"a limit that is not known":                  {verbs: waits, change: semaphore(func(d *decision) { d.b.LimitInClaims, d.row.LimitHow = true, sources.Unknown }), want: ErrNotPossible, says: "use --limit"},
		"a limit that is not known, and given":       {verbs: waits, change: semaphore(func(d *decision) { d.b.LimitInClaims, d.row.LimitHow, d.Limit = true, sources.Unknown, 5 })},
		"a limit that is known, and not given":       {verbs: waits, change: semaphore(func(d *decision) { d.b.LimitInClaims = true })},
		"a limit that is known, and given":           {verbs: waits, change: semaphore(func(d *decision) { d.b.LimitInClaims, d.Limit = true, 3 })},
		"another limit":                              {verbs: waits, change: semaphore(func(d *decision) { d.b.LimitInClaims, d.Limit = true, 4 }), want: ErrNotPossible, says: "its limit is 3"},
		"a limit that is not known, of a mutex":      {verbs: waits, change: func(d *decision) { d.b.LimitInClaims = true }},
		"a limit that is not known, giving up":       {verbs: verbs(action.Resign), change: semaphore(func(d *decision) { d.b.LimitInClaims, d.row.LimitHow = true, sources.Unknown })},
		"a limit that the server knows":              {verbs: waits, change: semaphore(func(d *decision) { d.row.LimitHow = sources.Unknown })},
		"all permits":                                {verbs: waits, change: semaphore(func(d *decision) { d.Permits = 3 })},
		"more permits than there are":                {verbs: waits, change: semaphore(func(d *decision) { d.Permits = 4 }), want: ErrNotPossible, says: "its limit is 3"},
		"permits of a limit that is 0":               {verbs: waits, change: semaphore(func(d *decision) { d.Permits, d.row.Limit = 4, 0 })},
		"permits of what does not exist":             {verbs: verbs(action.Create), change: func(d *decision) { d.row.Limit, d.Permits = 3, 4 }},
		"more permits of what is gone from view":     {verbs: verbs(action.Resign), change: semaphore(func(d *decision) { d.Permits, d.row = 4, nil })},
		"a limit that is not known, gone from view":  {verbs: verbs(action.Resign), change: semaphore(func(d *decision) { d.b.LimitInClaims, d.row, d.Limit = true, nil, 0 })},
		"permits of a mutex":                         {verbs: waits, change: func(d *decision) { d.Permits = 2 }, want: ErrNotPossible, says: "only a semaphore has several permits"},
		"one permit of a mutex":                      {verbs: waits, change: func(d *decision) { d.Permits = 1 }},
		"a limit in a claim that takes none":         {verbs: waits, change: semaphore(func(d *decision) { d.Limit = 3 }), want: ErrNotPossible, says: "no claim of it takes a limit"},
		"a limit in a claim of a mutex":              {verbs: waits, change: func(d *decision) { d.b.LimitInClaims, d.Limit = true, 1 }, want: ErrNotPossible, says: "no claim of it takes a limit"},
		"a limit of what is made":                    {verbs: verbs(action.Create), change: func(d *decision) { d.Limit = 9 }},
		"a limit of an election that is made":        {verbs: verbs(action.Create), change: func(d *decision) { d.row.Kind, d.Target.Kind, d.Limit = sources.KindElection, sources.KindElection, 2 }, want: ErrNotPossible, says: "an election has a limit of 1"},
		"a limit of 1 of an election that is made":   {verbs: verbs(action.Create), change: func(d *decision) { d.row.Kind, d.Target.Kind, d.Limit = sources.KindElection, sources.KindElection, 1 }},
		"data as long as it may be":                  {verbs: waits, change: func(d *decision) { d.Data = []byte(strings.Repeat("x", 20)) }},
		"data that is too long":                      {verbs: waits, change: func(d *decision) { d.Data = []byte(strings.Repeat("x", 21)) }, want: ErrNotPossible, says: "the data has 21 bytes, redis carries 20"},
		"data that is too long with our name before": {verbs: waits, change: func(d *decision) { d.b.Nameless, d.Data = true, []byte(strings.Repeat("x", 10)) }, want: ErrNotPossible, says: "the data has 21 bytes"},
		"sharing a mutex":                            {verbs: waits, change: func(d *decision) { d.Mode = sources.Shared }},
		"sharing an election":                        {verbs: verbs(action.Campaign), change: func(d *decision) { d.Mode = sources.Shared }, want: ErrNotPossible, says: "cannot share"},
		"sharing where the backend cannot":           {verbs: waits, change: func(d *decision) { d.Mode, d.b.Caps.Shared = sources.Shared, false }, want: ErrNotPossible, says: "redis cannot share this"},
		"giving up what is shared":                   {verbs: verbs(action.Resign), change: func(d *decision) { d.Mode, d.b.Caps.Shared = sources.Shared, false }},
		"a negative wait":                            {verbs: claims, change: func(d *decision) { d.Wait = -1 }, want: ErrNotPossible, says: "negative"},
		"no wait, and some":                          {verbs: claims, change: func(d *decision) { d.Wait = time.Second }},
		"a verb that there is not":                   {verbs: verbs(none), change: func(*decision) {}, want: ErrChanged},
	} {
		for _, v := range c.verbs {
			d := allowed(v)
			c.change(d)
			err := d.guard()
			if !errors.Is(err, c.want) || err == nil != (c.want == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v: got %v, want %v with %q", name, v, err, c.want, c.says)
			}
		}
	}
}

// TestGuardByItselfRefusesOnlyItsOwnCase asks single guards what the ones before them hide.
func TestGuardByItselfRefusesOnlyItsOwnCase(t *testing.T) {
	t.Parallel()
	for _, v := range action.Verbs() {
		d := allowed(v.Verb)
		d.row = nil
		for name, g := range map[string]func(*decision) error{"possible": guardPossible, "owners": guardOwners} {
			if err := g(d); err != nil {
				t.Errorf("%v: without a row the guard of what is %s says %v", v.Verb, name, err)
			}
		}
		d = allowed(v.Verb)
		d.ours, d.Target.Owner = nil, "another"
		if err := guardOurs(d); err != nil {
			t.Errorf("%v: without anything of ours it says %v", v.Verb, err)
		}
		d.ours = &action.Holding{Owner: "us"}
		if err, own := guardOurs(d), v.Group == action.OwnLease; (err != nil) != own {
			t.Errorf("%v: about another who is gone it says %v", v.Verb, err)
		}
	}
	for _, v := range []action.Verb{action.Release, action.Crash, action.CancelWait} {
		d := allowed(v)
		d.row.Owners, d.row.Queue = nil, sources.Queue{}
		if err := guardOwners(d); !errors.Is(err, ErrNotPossible) || errors.Is(err, ErrTaken) {
			t.Errorf("%v: without anybody to end it says %v", v, err)
		}
	}
}
