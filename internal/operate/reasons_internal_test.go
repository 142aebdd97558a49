package operate

import (
	"slices"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

// reason is why a verb cannot be done to a row; "": it can.
func (d *decision) reason(v action.Verb) string {
	for _, c := range d.b.choices(d.row, d.state, d.ours) {
		if c.Verb == v {
			return c.Not
		}
	}
	return "not listed"
}

func TestTheMenuSaysOfEachVerbWhyItIsNotPossible(t *testing.T) {
	t.Parallel()
	type verbs = []action.Verb
	a, b := sources.Owner{ID: "a", Label: "host-a", Guard: "ga"}, sources.Owner{ID: "b", Label: "host-b", Guard: "gb"}
	shared := func(list ...sources.Owner) []sources.Owner {
		for i := range list {
			list[i].Mode = sources.Shared
		}
		return list
	}
	claims, ends := verbs{action.Acquire, action.Campaign, action.Try}, verbs{action.Release, action.CancelWait, action.Crash}
	provisions := verbs{action.Create, action.Update, action.Delete, action.CreateNode}
	noNote, note := "", "a list, not a string"
	for name, c := range map[string]struct {
		verbs  verbs
		change func(d *decision)
		want   string // how the reason begins; "": it is possible
	}{
		"all is well":        {verbs: slices.Concat(claims, ends, provisions, verbs{action.Resign, action.Proclaim}), change: func(*decision) {}},
		"an unknown source":  {verbs: slices.Concat(claims, verbs{action.Resign, action.Proclaim}), change: func(d *decision) { d.b.Type = "" }, want: "coordtop cannot send anything"},
		"read-only":          {verbs: slices.Concat(claims, ends, provisions, verbs{action.Resign, action.Proclaim}), change: func(d *decision) { d.b.ReadOnly = true }, want: readOnlyText},
		"not ours, another":  {verbs: verbs{action.Resign}, change: func(d *decision) { d.ours = nil }, want: "not ours: coordtop gives up only what it took"},
		"not ours, nobody's": {verbs: verbs{action.Resign}, change: func(d *decision) { d.ours, d.row.Owners = nil, nil }, want: "not ours: nobody owns it"},
		"not ours, unknown":  {verbs: verbs{action.Resign}, change: func(d *decision) { d.ours, d.row.Owners, d.row.OwnersHow = nil, nil, sources.Unknown }, want: "not ours"},
		"not led by us":      {verbs: verbs{action.Proclaim}, change: func(d *decision) { d.ours = nil }, want: "not ours: only the leader proclaims"},
		"no election":        {verbs: verbs{action.Proclaim}, change: func(d *decision) { d.row.Kind = sources.KindMutex }, want: "only a leader proclaims"},
		"not led yet":        {verbs: verbs{action.Proclaim}, change: func(d *decision) { d.ours.Waiting = true }, want: "we do not lead yet"},
		"no data":            {verbs: verbs{action.Proclaim}, change: func(d *decision) { d.b.Caps.MaxData = 0 }, want: "leaders carry no data on redis"},
		"old":                {verbs: slices.Concat(claims, ends, provisions), change: func(d *decision) { d.state.Scopes[0].Health = sources.HealthStale }, want: "what is shown of it is old"},
		"old, and ours":      {verbs: verbs{action.Resign, action.Proclaim}, change: func(d *decision) { d.state.Scopes[0].Health = sources.HealthStale }},

		"absent":                 {verbs: slices.Concat(claims, ends), change: func(d *decision) { d.row.Absent = true }, want: "it does not exist: create it first"},
		"absent, and noted":      {verbs: claims, change: func(d *decision) { d.row.Absent, d.row.Note = true, "it is gone" }, want: "it is gone: create it first"},
		"in no node":             {verbs: claims, change: func(d *decision) { d.row.Absent, d.row.NoSpace, d.row.Note = true, true, "no such node" }, want: "no such node: create the node first"},
		"not read as a lock":     {verbs: claims, change: func(d *decision) { d.row.Note = note }, want: "it cannot be read as a lock (a list, not a string): only its own program"},
		"its owner not read":     {verbs: ends, change: func(d *decision) { d.row.Note = note }, want: "it cannot be read as a lock (a list, not a string), so its owner is not known"},
		"noted, ours":            {verbs: verbs{action.Resign, action.Proclaim}, change: func(d *decision) { d.row.Note = note }},
		"no note":                {verbs: claims, change: func(d *decision) { d.row.Note = noNote }},
		"we wait":                {verbs: claims, change: func(d *decision) { d.ours = &action.Holding{Waiting: true} }, want: "we wait for it already"},
		"ours":                   {verbs: claims, change: func(d *decision) { d.ours = &action.Holding{Owner: "us"} }, want: "ours already"},
		"a led one":              {verbs: verbs{action.Acquire}, change: func(d *decision) { d.row.Kind = sources.KindElection }, want: "an election is led"},
		"one that is not led":    {verbs: verbs{action.Campaign}, change: func(d *decision) { d.row.Kind = sources.KindMutex }, want: "only an election is led"},
		"one of an unknown kind": {verbs: verbs{action.Campaign}, change: func(d *decision) { d.row.Kind = sources.KindUnknown }, want: "only an election is led"},
		"no semaphores":          {verbs: verbs{action.Acquire, action.Try}, change: func(d *decision) { d.row.Kind, d.b.Caps.Semaphore = sources.KindSemaphore, false }, want: "redis has no semaphore"},
		"no semaphores, a mutex": {verbs: verbs{action.Acquire, action.Try}, change: func(d *decision) { d.b.Caps.Semaphore, d.b.Caps.Election = false, false }},
		"semaphores alone":       {verbs: verbs{action.Acquire, action.Try}, change: func(d *decision) { d.row.Kind, d.b.Caps.Election = sources.KindSemaphore, false }},
		"no elections":           {verbs: verbs{action.Campaign}, change: func(d *decision) { d.b.Caps.Election = false }, want: "redis has no election"},
		"elections alone":        {verbs: verbs{action.Campaign}, change: func(d *decision) { d.b.Caps.Semaphore = false }},
		"of an extension":        {verbs: claims, change: func(d *decision) { d.b.Refuses = func(*sources.Primitive) string { return "made by\nan extension" } }, want: `made by\nan extension`},
		"of no extension":        {verbs: claims, change: func(d *decision) { d.b.Refuses = func(*sources.Primitive) string { return "" } }},
		"taken":                  {verbs: verbs{action.Try}, change: func(d *decision) { d.row.Owners = []sources.Owner{a} }, want: "owned by host-a"},
		"taken, and we wait":     {verbs: verbs{action.Acquire, action.Campaign}, change: func(d *decision) { d.row.Owners = []sources.Owner{a} }},
		"some permits taken":     {verbs: verbs{action.Try}, change: func(d *decision) { d.row.Kind, d.row.Owners = sources.KindSemaphore, []sources.Owner{a} }},
		"shared":                 {verbs: verbs{action.Try}, change: func(d *decision) { d.row.Owners = shared(a, b) }},
		"shared, but not here":   {verbs: verbs{action.Try}, change: func(d *decision) { d.row.Owners, d.b.Caps.Shared = shared(a, b), false }, want: "owned by host-a"},
		"shared, an election":    {verbs: verbs{action.Try}, change: func(d *decision) { d.row.Kind, d.row.Owners = sources.KindElection, shared(a) }, want: "owned by host-a"},
		"shared and owned alone": {verbs: verbs{action.Try}, change: func(d *decision) { d.row.Owners = append(shared(a), b) }, want: "owned by host-a"},
		"taken without an end":   {verbs: verbs{action.Acquire, action.Campaign}, change: func(d *decision) { a := a; a.NoExpiry = true; d.row.Owners = []sources.Owner{a} }, want: "its owner's lease has no end, so it will not become free by itself: its owner has to release it, or a force-release ends it"},
		"taken for ever":         {verbs: verbs{action.Acquire}, change: func(d *decision) { a := a; a.NoExpiry, a.Guard = true, ""; d.row.Owners = []sources.Owner{a} }, want: "its owner's lease has no end, so it will not become free by itself: its owner has to release it"},
		"taken, and a queue":     {verbs: verbs{action.Acquire}, change: func(d *decision) { a := a; a.NoExpiry, d.b.Caps.FIFO = true, true; d.row.Owners = []sources.Owner{a} }},
		"nobody":                 {verbs: verbs{action.Release, action.Crash}, change: func(d *decision) { d.row.Owners = nil }, want: "nobody owns it"},
		"somebody":               {verbs: verbs{action.Release, action.Crash}, change: func(d *decision) { d.row.Owners, d.row.OwnersHow = nil, sources.Unknown }, want: "the server does not tell who owns it"},
		"somebody who is told":   {verbs: verbs{action.Release, action.Crash}, change: func(d *decision) { d.row.OwnersHow = sources.Unknown }},
		"nobody waits":           {verbs: verbs{action.CancelWait}, change: func(d *decision) { d.row.Queue = sources.Queue{} }, want: "no waiter is known"},
		"no force":               {verbs: verbs{action.Release}, change: func(d *decision) { d.b.Force = nil }, want: "coordtop has no way to end what another owns on redis"},
		"no force for waits":     {verbs: verbs{action.CancelWait}, change: func(d *decision) { d.b.Force = nil }, want: "coordtop has no way to end another's wait on redis"},
		"no way to end waits":    {verbs: verbs{action.CancelWait}, change: func(d *decision) { d.b.Force.Cancel = "" }, want: "coordtop has no way to end another's wait on redis"},
		"a reason against it":    {verbs: verbs{action.CancelWait}, change: func(d *decision) { d.b.Force.NoCancel = "only it can" }, want: "only it can"},
		"ours, by force":         {verbs: verbs{action.Release}, change: func(d *decision) { d.ours = &action.Holding{Owner: "a"} }, want: "ours: resign gives it up"},
		"ours and another's":     {verbs: verbs{action.Release}, change: func(d *decision) { d.ours = &action.Holding{Owner: "a"}; d.row.Owners = []sources.Owner{a, b} }},
		"no guard":               {verbs: verbs{action.Release}, change: func(d *decision) { d.row.Owners[0].Guard = "" }, want: "nothing is known of host-a by which"},
		"no guard of one":        {verbs: verbs{action.Release}, change: func(d *decision) { d.row.Owners = []sources.Owner{{ID: "a"}, b} }},
		"refused by the backend": {verbs: verbs{action.Release}, change: func(d *decision) {
			d.b.Force.Refuses = func(*sources.Row, *sources.Owner) string { return "no\tright" }
		}, want: `no\tright`},
		"refused for one": {verbs: verbs{action.Release}, change: func(d *decision) {
			d.row.Owners = []sources.Owner{a, b}
			d.b.Force.Refuses = func(_ *sources.Row, w *sources.Owner) string { return map[string]string{"a": "no"}[w.ID] }
		}},
		"not refused":             {verbs: verbs{action.Release}, change: func(d *decision) { d.b.Force.Refuses = func(*sources.Row, *sources.Owner) string { return "" } }},
		"no provisions":           {verbs: verbs{action.Create, action.Update, action.Delete}, change: func(d *decision) { d.b.Provisions = false }, want: "not listed"},
		"no way to make nodes":    {verbs: verbs{action.CreateNode}, change: func(d *decision) { d.b.Nodes = nil }, want: "not listed"},
		"not the demo":            {verbs: verbs{action.Crash}, change: func(d *decision) { d.b.Crash = nil }, want: "not listed"},
		"no queue, no way":        {verbs: verbs{action.CancelWait}, change: func(d *decision) { d.row.Queue, d.b.Force.Cancel = sources.Queue{}, "" }, want: "not listed"},
		"the node is there":       {verbs: verbs{action.CreateNode}, change: func(d *decision) { d.row.NoSpace, d.row.Space = false, "/local/a" }, want: "/local/a exists"},
		"the node is not there":   {verbs: verbs{action.Create, action.Update, action.Delete}, change: func(d *decision) { d.row.NoSpace, d.row.Note = true, "no such node" }, want: "no such node"},
		"a mutex is not made":     {verbs: verbs{action.Create, action.Update, action.Delete}, change: func(d *decision) { d.row.Kind = sources.KindMutex }, want: "a mutex is there while somebody uses it"},
		"it exists":               {verbs: verbs{action.Create}, change: func(d *decision) { d.row.Absent = false }, want: "it exists"},
		"it does not exist":       {verbs: verbs{action.Update, action.Delete}, change: func(d *decision) { d.row.Absent = true }, want: "it does not exist"},
		"something else":          {verbs: verbs{action.Update, action.Delete}, change: func(d *decision) { d.row.Note = note }, want: note},
		"deleting ephemeral ones": {verbs: verbs{action.Delete}, change: func(d *decision) { d.row.Ephemeral = true }, want: "it is ephemeral"},
		"deleting owned ones":     {verbs: verbs{action.Delete}, change: func(d *decision) { d.row.Owners = []sources.Owner{a} }, want: "owned by host-a"},
		"deleting awaited ones":   {verbs: verbs{action.Delete}, change: func(d *decision) { d.row.Queue.Len = 2 }, want: "2 wait for it"},
		"updating what is in use": {verbs: verbs{action.Update}, change: func(d *decision) { d.row.Owners, d.row.Ephemeral, d.row.Queue.Len = []sources.Owner{a}, true, 1 }},
	} {
		for _, v := range c.verbs {
			d := allowed(v)
			c.change(d)
			if got := d.reason(v); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %v: %q, want %q", name, v, got, c.want)
			}
		}
	}
}

func TestWhatIsPossibleStandsFirstInTheMenu(t *testing.T) {
	t.Parallel()
	d := allowed(action.Release)
	possible := true
	for _, c := range d.b.choices(d.row, d.state, d.ours) {
		if c.Not == "" && !possible {
			t.Errorf("%v is possible, and stands behind what is not", c.Verb)
		}
		possible = c.Not == ""
	}
}

func TestTheWaitOfOneThatTheBackendRefusesIsNotEnded(t *testing.T) {
	t.Parallel()
	for want, refuses := range map[string]func(*sources.Waiter) string{
		"": nil, "of host-w": func(w *sources.Waiter) string { return "of " + w.Label },
	} {
		d := allowed(action.CancelWait)
		d.b.Force.RefusesWaiter = refuses
		if got := d.b.notCancelled(d.row, "w"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := d.b.notCancelled(d.row, "v"); got != "" {
			t.Errorf("one that does not wait: %q", got)
		}
		d.b.Force = nil
		if got := d.b.notCancelled(d.row, "w"); got != "" {
			t.Errorf("without a way: %q", got)
		}
	}
}

func TestTheOwnerToBeEndedIsTheOneOfTheRequest(t *testing.T) {
	t.Parallel()
	d := allowed(action.Release)
	d.row.Owners = append(d.row.Owners, sources.Owner{ID: "b", Guard: "gb"}, sources.Owner{ID: "a", Guard: "ga2"})
	for _, c := range []struct {
		verb      action.Verb
		id, guard string
		waiting   bool
		want      string
	}{
		{action.Release, "a", "g", false, ""}, {action.Release, "a", "ga2", false, ""}, {action.Release, "b", "gb", false, ""},
		{action.Release, "a", "gb", false, "choose one"}, {action.Release, "c", "g", false, "choose one"}, {action.Release, "a", "g", true, "release is for one that owns"},
		{action.CancelWait, "a", "g", false, "release is for one that owns"}, {action.CancelWait, "a", "g", true, ""},
		{action.Crash, "c", "", false, ""}, {action.Resign, "c", "", true, ""},
	} {
		r := action.Request{Verb: c.verb, Target: action.Target{Owner: c.id, Guard: c.guard, Waiting: c.waiting}}
		if got := d.b.notTarget(r, d.row, nil); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestASourceSaysWhatItCanNeverDo(t *testing.T) {
	t.Parallel()
	full := *allowed(action.Acquire).b
	for name, c := range map[string]struct {
		change func(b *Backend)
		never  map[action.Verb]string
	}{
		"all":                        {func(*Backend) {}, nil},
		"no mutex":                   {func(b *Backend) { b.Caps.Mutex = false }, nil},
		"no semaphore":               {func(b *Backend) { b.Caps.Semaphore = false }, nil},
		"neither":                    {func(b *Backend) { b.Caps.Mutex, b.Caps.Semaphore = false, false }, map[action.Verb]string{action.Acquire: "redis has no mutex and no semaphore"}},
		"no election":                {func(b *Backend) { b.Caps.Election = false }, map[action.Verb]string{action.Campaign: "redis has no election", action.Proclaim: "leaders carry no data"}},
		"no data":                    {func(b *Backend) { b.Caps.MaxData = 0 }, map[action.Verb]string{action.Proclaim: "leaders carry no data"}},
		"no crash":                   {func(b *Backend) { b.Crash = nil }, map[action.Verb]string{action.Crash: "only in the demo"}},
		"no force":                   {func(b *Backend) { b.Force = nil }, map[action.Verb]string{action.Release: "coordtop has no way to end what", action.CancelWait: "coordtop has no way to end another's wait"}},
		"no cancel":                  {func(b *Backend) { b.Force = &Force{} }, map[action.Verb]string{action.CancelWait: "coordtop has no way to end another's wait"}},
		"a reason against a cancel":  {func(b *Backend) { b.Force = &Force{NoCancel: "why"} }, map[action.Verb]string{action.CancelWait: "why"}},
		"no provisions":              {func(b *Backend) { b.Provisions = false }, map[action.Verb]string{action.Create: "redis has nothing that exists", action.Update: "redis has", action.Delete: "redis has", action.CreateNode: "redis has", action.AlterNode: "redis has", action.DropNode: "redis has"}},
		"no way to make a node":      {func(b *Backend) { b.Nodes = nil }, map[action.Verb]string{action.CreateNode: "redis has nothing that exists", action.AlterNode: "redis has", action.DropNode: "redis has"}},
		"a namesake without waiters": {func(b *Backend) { b.Force = &Force{Cancel: "c"} }, nil},
	} {
		b := full
		c.change(&b)
		for _, d := range action.Verbs() {
			want := c.never[d.Verb]
			if got := b.never(d.Verb); (got == "") != (want == "") || !strings.HasPrefix(got, want) {
				t.Errorf("%s: %v: %q, want %q", name, d.Verb, got, want)
			}
		}
	}
	b := Backend{ReadOnly: true, Caps: coord.Caps{Mutex: true}}
	for _, d := range action.Verbs() {
		if b.never(d.Verb) != readOnlyText {
			t.Errorf("%v is possible at a source that is read-only", d.Verb)
		}
	}
}
