package headless

import (
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

type getJSON struct {
	V          int             `json:"v" is:"version"`
	At         *string         `json:"at" is:"time"`
	Sources    []sourceJSON    `json:"sources"`
	Primitives []primitiveJSON `json:"primitives"`
}

type sourceJSON struct {
	Name       string      `json:"name"`
	Type       string      `json:"type"`
	Health     string      `json:"health" is:"health"`
	Mode       *string     `json:"mode"`
	Error      *string     `json:"error"`
	AgeMS      *int64      `json:"age_ms"`
	SamplingMS *int64      `json:"sampling_ms"`
	Scopes     []scopeJSON `json:"scopes"`
	Warnings   []string    `json:"warnings"`
}

type scopeJSON struct {
	Name       string            `json:"name"`
	Health     string            `json:"health" is:"health"`
	Synced     bool              `json:"synced"`
	Mode       *string           `json:"mode"`
	AgeMS      *int64            `json:"age_ms"`
	SamplingMS *int64            `json:"sampling_ms"`
	Version    *string           `json:"version"`
	Role       *string           `json:"role"`
	Settings   map[string]string `json:"settings"`
}

type primitiveJSON struct {
	Source      string       `json:"source"`
	Namespace   *string      `json:"namespace"`
	Kind        *string      `json:"kind" is:"kind"`
	Guess       bool         `json:"guess,omitempty"`
	Name        string       `json:"name"`
	NameB64     string       `json:"name_b64,omitempty"`
	Alias       *aliasJSON   `json:"alias"`
	Format      *aliasJSON   `json:"format"`
	Limit       *int64       `json:"limit"`
	Taken       *int64       `json:"taken"`
	Ephemeral   bool         `json:"ephemeral"`
	Data        *blobJSON    `json:"data"`
	Fresh       bool         `json:"fresh"`
	State       string       `json:"state" is:"state"`
	Note        string       `json:"note,omitempty"`
	Owners      *[]ownerJSON `json:"owners"`
	OwnersKnown string       `json:"owners_known" is:"known"`

	FreeSince      *string    `json:"free_since" is:"time"`
	FreeSinceKnown string     `json:"free_since_known" is:"known"`
	FreeSinceAfter *string    `json:"free_since_after" is:"time"`
	Before         []termJSON `json:"before"`

	Queue queueJSON `json:"queue"`

	Candidates      *[]waiterJSON `json:"candidates"`
	CandidatesKnown string        `json:"candidates_known" is:"known"`

	Problems []problemJSON `json:"problems"`
	Actions  []actionJSON  `json:"actions,omitempty"`
}

type problemJSON struct {
	Fault      string  `json:"fault" is:"fault"`
	Severity   string  `json:"severity" is:"severity"`
	Sentence   string  `json:"sentence"`
	Since      *string `json:"since" is:"time"`
	SinceKnown string  `json:"since_known" is:"known"`
	SinceAfter *string `json:"since_after" is:"time"`
}

func problemsOf(list []verdict.Problem) []problemJSON {
	out := make([]problemJSON, len(list))
	for i, p := range list {
		out[i] = problemJSON{Fault: p.Fault.String(), Severity: p.Severity.String(), Sentence: text(p.Sentence), SinceKnown: p.Since.How.String()}
		out[i].Since, out[i].SinceAfter = stamp(p.Since)
	}
	return out
}

type actionJSON struct {
	Action string  `json:"action"`
	Not    *string `json:"not"`
}

// Actions are what can be done to a row.
type Actions struct {
	Row    []Choice
	Owners []string // why the ownership of each owner cannot be ended by force; "": it can
}

// Choice is one action, and why it is not possible; "": it is.
type Choice struct{ Action, Not string }

// act adds what can be done.
func (p *primitiveJSON) act(a Actions) {
	for _, c := range a.Row {
		p.Actions = append(p.Actions, actionJSON{c.Action, orNull(c.Not)})
	}
	for i, not := range a.Owners {
		(*p.Owners)[i].Release = &actionJSON{"release", orNull(not)}
	}
}

type ownerJSON struct {
	ID         string            `json:"id"`
	Label      string            `json:"label"`
	Session    *string           `json:"session"`
	Mode       string            `json:"mode" is:"mode"`
	Permits    int64             `json:"permits"`
	Fence      *string           `json:"fence" is:"number"`
	Since      *string           `json:"since" is:"time"`
	SinceKnown string            `json:"since_known" is:"known"`
	SinceAfter *string           `json:"since_after" is:"time"`
	Expires    *string           `json:"expires" is:"time"`
	LeaseMS    *int64            `json:"lease_ms"`
	Data       *blobJSON         `json:"data"`
	Attrs      map[string]string `json:"attrs"`
	Guard      *string           `json:"guard"`
	Release    *actionJSON       `json:"release,omitempty"`
}

type queueJSON struct {
	Known   string        `json:"known" is:"known"`
	Len     *int          `json:"len"`
	At      *string       `json:"at" is:"time"`
	Waiters *[]waiterJSON `json:"waiters"`
}

type waiterJSON struct {
	ID         string            `json:"id"`
	Label      string            `json:"label"`
	Session    *string           `json:"session"`
	Mode       string            `json:"mode" is:"mode"`
	Permits    int64             `json:"permits"`
	Order      *string           `json:"order" is:"number"`
	Turn       *int              `json:"turn"`
	Since      *string           `json:"since" is:"time"`
	SinceKnown string            `json:"since_known" is:"known"`
	SinceAfter *string           `json:"since_after" is:"time"`
	TimeoutMS  *int64            `json:"timeout_ms"`
	Data       *blobJSON         `json:"data"`
	Attrs      map[string]string `json:"attrs"`
	Guard      *string           `json:"guard"`
}

// writeGet writes the whole object with one Write.
func writeGet(w io.Writer, j *verdict.Judge, list []*sources.Row, o GetOptions, now time.Time) error {
	s := j.State
	g := getJSON{V: version, At: instant(now), Sources: []sourceJSON{}, Primitives: make([]primitiveJSON, 0, len(list))}
	for _, src := range s.Sources {
		g.Sources = append(g.Sources, sourceOf(s, src, now))
	}
	for _, r := range list {
		p := primitiveOf(j, r, now)
		if o.Actions != nil {
			p.act(o.Actions(r))
		}
		g.Primitives = append(g.Primitives, p)
	}
	return writeLine(w, g)
}

// sourceOf sums a source's scopes up: the oldest answer, the longest pause, all modes.
func sourceOf(s *sources.State, src sources.SourceStatus, now time.Time) sourceJSON {
	out := sourceJSON{Name: text(src.Name), Type: src.Type, Health: src.Health.String(), Scopes: []scopeJSON{}, Warnings: []string{}}
	if src.Err != nil {
		out.Error = orNull(src.Err.Error())
	}
	var modes []string
	for _, c := range scopesOf(s, src.Name) {
		sc := scopeOf(c, now)
		out.Scopes = append(out.Scopes, sc)
		out.AgeMS = larger(out.AgeMS, sc.AgeMS)
		out.SamplingMS = larger(out.SamplingMS, sc.SamplingMS)
		if m := c.About.Mode; m != "" && !slices.Contains(modes, m) {
			modes = append(modes, m)
		}
		for _, w := range c.About.Warnings {
			out.Warnings = append(out.Warnings, text(w))
		}
	}
	out.Mode = orNull(strings.Join(modes, ", "))
	return out
}

func scopeOf(c sources.Scope, now time.Time) scopeJSON {
	out := scopeJSON{
		Name: text(c.Name), Health: c.Health.String(), Synced: c.Whole(), Mode: orNull(c.About.Mode),
		Version: orNull(c.About.Version), Role: orNull(c.About.Role), Settings: attrsOf(c.About.Config),
	}
	if !c.Alive.IsZero() {
		out.AgeMS = millis(max(now.Sub(c.Alive), 0))
	}
	if c.About.Mode != "" {
		out.SamplingMS = millis(c.About.Sampling)
	}
	return out
}

func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func primitiveOf(j *verdict.Judge, r *sources.Row, now time.Time) primitiveJSON {
	out := primitiveJSON{
		Source: text(r.Source), Namespace: orNull(r.Space), Kind: kind(r.Kind), Guess: r.Guessed(), Name: text(r.Name), NameB64: exact(r.Name),
		Ephemeral: r.Ephemeral, Data: blob(r.Data), Fresh: r.Fresh(j.State), State: r.StatusAt(j.State, now).String(), Note: text(r.Note),
		OwnersKnown: r.OwnersHow.String(), Queue: queueOf(r.Queue), Alias: aliasOf(r.Alias, r.AliasHow), Format: aliasOf(r.Format()),
		CandidatesKnown: r.Queue.CandidatesHow.String(), FreeSinceKnown: r.Nobody.How.String(), Before: termsOf(r.Terms),
		Problems: problemsOf(j.Problems(r, now)),
	}
	out.FreeSince, out.FreeSinceAfter = stamp(r.Nobody)
	if r.Queue.CandidatesHow != sources.Unknown || len(r.Candidates) > 0 {
		out.Candidates = waitersOf(r.Candidates)
	}
	if r.LimitHow != sources.Unknown {
		out.Limit = new(sources.Permits(r.Limit))
	}
	if r.OwnersHow != sources.Unknown || r.Taken > 0 {
		out.Taken = new(sources.Permits(r.Taken))
	}
	if r.OwnersHow != sources.Unknown || len(r.Owners) > 0 {
		owners := make([]ownerJSON, len(r.Owners))
		for i := range r.Owners {
			owners[i] = ownerOf(&r.Owners[i])
		}
		out.Owners = &owners
	}
	return out
}

func ownerOf(o *sources.Owner) ownerJSON {
	out := ownerJSON{
		ID: text(o.ID), Label: text(o.Label), Session: orNull(o.Session), Mode: o.Mode.String(), Permits: sources.Permits(max(o.Permits, 1)),
		Fence: number(o.Fence), SinceKnown: o.Since.How.String(), LeaseMS: millisOrNull(o.Lease), Data: blob(o.Data),
		Attrs: attrsOf(o.Attrs), Guard: orNull(o.Guard),
	}
	out.Since, out.SinceAfter = stamp(o.Since)
	out.Expires, _ = stamp(o.Expires)
	if o.NoExpiry {
		out.LeaseMS = new(int64(-1))
	}
	return out
}

func attrsOf(list []sources.Attr) map[string]string {
	attrs := make(map[string]string, len(list))
	for _, a := range list {
		attrs[text(a.Key)] = text(a.Value)
	}
	return attrs
}

func queueOf(q sources.Queue) queueJSON {
	out := queueJSON{Known: q.How.String()}
	if q.How == sources.Unknown {
		return out
	}
	out.Len, out.At = &q.Len, instant(q.At)
	if q.Len > 0 && len(q.Waiters) == 0 {
		return out // the backend tells a number only
	}
	out.Waiters = waitersOf(q.Waiters)
	return out
}

func waitersOf(waiters []sources.Waiter) *[]waiterJSON {
	list := make([]waiterJSON, len(waiters))
	for i := range waiters {
		list[i] = waiterOf(&waiters[i])
	}
	return &list
}

func waiterOf(w *sources.Waiter) waiterJSON {
	out := waiterJSON{
		ID: text(w.ID), Label: text(w.Label), Session: orNull(w.Session), Mode: w.Mode.String(), Permits: sources.Permits(max(w.Permits, 1)),
		Order: number(w.Order), SinceKnown: w.Since.How.String(), TimeoutMS: millisOrNull(w.Timeout), Data: blob(w.Data),
		Attrs: attrsOf(w.Attrs), Guard: orNull(w.Guard),
	}
	if w.Turn > 0 {
		out.Turn = &w.Turn
	}
	out.Since, out.SinceAfter = stamp(w.Since)
	return out
}

// termJSON is an ownership that is over.
type termJSON struct {
	ID         string      `json:"id"`
	Label      string      `json:"label"`
	Fence      *string     `json:"fence" is:"number"`
	Since      *string     `json:"since" is:"time"`
	SinceKnown string      `json:"since_known" is:"known"`
	SinceAfter *string     `json:"since_after" is:"time"`
	Until      *string     `json:"until" is:"time"`
	UntilAfter *string     `json:"until_after" is:"time"`
	HeldMS     *lengthJSON `json:"held_ms"`
	Cause      string      `json:"cause" is:"cause"`
	CauseKnown string      `json:"cause_known" is:"known"`
}

// termsOf are the terms that are over, the newest first.
func termsOf(terms []sources.Term) []termJSON {
	list := []termJSON{}
	for i := len(terms) - 1; i >= 0; i-- {
		t := &terms[i]
		if t.End.How == sources.Unknown {
			continue
		}
		out := termJSON{
			ID: text(t.Owner.ID), Label: text(t.Owner.Label), Fence: number(t.Owner.Fence), SinceKnown: t.Start.How.String(), HeldMS: lengthOf(t.Held()),
			Cause: t.Cause.String(), CauseKnown: t.How.String(),
		}
		out.Since, out.SinceAfter = stamp(t.Start)
		out.Until, out.UntilAfter = stamp(t.End)
		list = append(list, out)
	}
	return list
}
