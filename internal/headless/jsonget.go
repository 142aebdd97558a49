package headless

import (
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/mute"
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

// sinceJSON has the time at which something began.
type sinceJSON struct {
	Since      *string `json:"since" is:"time"`
	SinceKnown string  `json:"since_known" is:"known"`
	SinceAfter *string `json:"since_after" is:"time"`
}

func sinceOf(s sources.Stamp) sinceJSON {
	at, after := stamp(s)
	return sinceJSON{Since: at, SinceKnown: s.How.String(), SinceAfter: after}
}

type problemJSON struct {
	Fault    string `json:"fault" is:"fault"`
	Severity string `json:"severity" is:"severity"`
	Sentence string `json:"sentence"`
	sinceJSON
	Acknowledged *acknowledgedJSON `json:"acknowledged"`
}

func problemOf(p *verdict.Problem, known *mute.Mute) problemJSON {
	return problemJSON{p.Fault.String(), p.Severity.String(), text(p.Sentence), sinceOf(p.Since), acknowledged(known)}
}

type actionJSON struct {
	Action string  `json:"action"`
	Not    *string `json:"not"`
}

// Actions lists the possible and impossible actions on a row.
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
	ID      string  `json:"id"`
	Label   string  `json:"label"`
	Session *string `json:"session"`
	Mode    string  `json:"mode" is:"mode"`
	Permits int64   `json:"permits"`
	Fence   *string `json:"fence" is:"number"`
	sinceJSON
	Expires *string           `json:"expires" is:"time"`
	LeaseMS *int64            `json:"lease_ms"`
	Data    *blobJSON         `json:"data"`
	Attrs   map[string]string `json:"attrs"`
	Guard   *string           `json:"guard"`
	Release *actionJSON       `json:"release,omitempty"`
}

type queueJSON struct {
	Known   string        `json:"known" is:"known"`
	Len     *int          `json:"len"`
	At      *string       `json:"at" is:"time"`
	Waiters *[]waiterJSON `json:"waiters"`
}

type waiterJSON struct {
	ID      string  `json:"id"`
	Label   string  `json:"label"`
	Session *string `json:"session"`
	Mode    string  `json:"mode" is:"mode"`
	Permits int64   `json:"permits"`
	Order   *string `json:"order" is:"number"`
	Turn    *int    `json:"turn"`
	sinceJSON
	TimeoutMS *int64            `json:"timeout_ms"`
	Data      *blobJSON         `json:"data"`
	Attrs     map[string]string `json:"attrs"`
	Guard     *string           `json:"guard"`
}

// writeGet writes the whole object with one Write.
func writeGet(w io.Writer, j *verdict.Judge, list []*sources.Row, o GetOptions, now time.Time) error {
	s := j.State
	return writeLine(w, getJSON{
		V: version, At: instant(now),
		Sources: each(s.Sources, func(src *sources.SourceStatus) sourceJSON { return sourceOf(s, src, now) }),
		Primitives: each(list, func(r **sources.Row) primitiveJSON {
			p := primitiveOf(j, *r, now, o.muted.Rows[(*r).Ref])
			if o.Actions != nil {
				p.act(o.Actions(*r))
			}
			return p
		}),
	})
}

// sourceOf sums up the scopes of a source: the oldest answer, the longest pause, all modes.
func sourceOf(s *sources.State, src *sources.SourceStatus, now time.Time) sourceJSON {
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
	return scopeJSON{
		Name: text(c.Name), Health: c.Health.String(), Synced: c.Whole(), Mode: orNull(c.About.Mode),
		Version: orNull(c.About.Version), Role: orNull(c.About.Role), Settings: attrsOf(c.About.Config),
		AgeMS:      nullable(!c.Alive.IsZero(), max(now.Sub(c.Alive), 0).Milliseconds()),
		SamplingMS: nullable(c.About.Mode != "", c.About.Sampling.Milliseconds()),
	}
}

func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func primitiveOf(j *verdict.Judge, r *sources.Row, now time.Time, known *mute.Mute) primitiveJSON {
	out := primitiveJSON{
		Source: text(r.Source), Namespace: orNull(r.Space), Kind: kind(r.Kind), Guess: r.Guessed(), Name: text(r.Name), NameB64: exact(r.Name),
		Ephemeral: r.Ephemeral, Data: blob(r.Data), Fresh: r.Fresh(j.State), State: r.StatusAt(j.State, now).String(), Note: text(r.Note),
		OwnersKnown: r.OwnersHow.String(), Queue: queueOf(r.Queue), Alias: aliasOf(r.Alias, r.AliasHow), Format: aliasOf(r.Format()),
		CandidatesKnown: r.Queue.CandidatesHow.String(), FreeSinceKnown: r.Nobody.How.String(), Before: termsOf(r.Terms),
		Problems:   each(j.Problems(r, now), func(p *verdict.Problem) problemJSON { return problemOf(p, known) }),
		Limit:      nullable(r.LimitHow != sources.Unknown, sources.Permits(r.Limit)),
		Taken:      nullable(r.OwnersHow != sources.Unknown || r.Taken > 0, sources.Permits(r.Taken)),
		Owners:     nullable(r.OwnersHow != sources.Unknown || len(r.Owners) > 0, each(r.Owners, ownerOf)),
		Candidates: nullable(r.Queue.CandidatesHow != sources.Unknown || len(r.Candidates) > 0, each(r.Candidates, waiterOf)),
	}
	out.FreeSince, out.FreeSinceAfter = stamp(r.Nobody)
	return out
}

func ownerOf(o *sources.Owner) ownerJSON {
	out := ownerJSON{
		ID: text(o.ID), Label: text(o.Label), Session: orNull(o.Session), Mode: o.Mode.String(), Permits: sources.Permits(max(o.Permits, 1)),
		Fence: number(o.Fence), sinceJSON: sinceOf(o.Since), LeaseMS: millisOrNull(o.Lease), Data: blob(o.Data),
		Attrs: attrsOf(o.Attrs), Guard: orNull(o.Guard),
	}
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
	counted := q.Len > 0 && len(q.Waiters) == 0 // the backend tells only how many wait
	out.Waiters = nullable(!counted, each(q.Waiters, waiterOf))
	return out
}

func waiterOf(w *sources.Waiter) waiterJSON {
	return waiterJSON{
		ID: text(w.ID), Label: text(w.Label), Session: orNull(w.Session), Mode: w.Mode.String(), Permits: sources.Permits(max(w.Permits, 1)),
		Order: number(w.Order), Turn: nullable(w.Turn > 0, w.Turn), sinceJSON: sinceOf(w.Since),
		TimeoutMS: millisOrNull(w.Timeout), Data: blob(w.Data), Attrs: attrsOf(w.Attrs), Guard: orNull(w.Guard),
	}
}

// termJSON is an ownership that is over.
type termJSON struct {
	ownerRefJSON
	sinceJSON
	Until      *string     `json:"until" is:"time"`
	UntilAfter *string     `json:"until_after" is:"time"`
	HeldMS     *lengthJSON `json:"held_ms"`
	Cause      string      `json:"cause" is:"cause"`
	CauseKnown string      `json:"cause_known" is:"known"`
}

// termsOf returns the terms that are over, the newest first.
func termsOf(terms []sources.Term) []termJSON {
	list := []termJSON{}
	for _, t := range slices.Backward(terms) {
		if t.End.How == sources.Unknown {
			continue
		}
		out := termJSON{
			ownerRefJSON: refOfOwner(t.Owner), sinceJSON: sinceOf(t.Start), HeldMS: lengthOf(t.Held()),
			Cause: t.Cause.String(), CauseKnown: t.How.String(),
		}
		out.Until, out.UntilAfter = stamp(t.End)
		list = append(list, out)
	}
	return list
}
