package sources

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// hubSource is one source in the Hub.
type hubSource struct {
	SourceFacts
	source  Source
	hurry   chan struct{} // capacity 1: connect now instead of after the pause
	scopes  map[string]*scope
	inOrder []*scope
	owners  OwnerRules
	stepped atomic.Pointer[error] // not nil if the clock was set, so that the source must connect again
}

// SourceFacts is the part of a source that a Keyframe keeps.
type SourceFacts struct {
	SourceStatus               // Health and Rows are computed when a state is made
	SilenceLimit time.Duration // of Spec.Silence
	RowCount     int           // Rows of the next State
	Outage       Outage
}

// scope is a Scope in the model.
type scope struct {
	ScopeFacts
	source *hubSource
}

// ScopeFacts is the part of a scope that a Keyframe keeps.
type ScopeFacts struct {
	Scope
	Index    int           // index of the scope in model.scopes
	Answered time.Duration // Alive on the monotonic clock
	// Listed reports whether any listing was complete, so that rows that appear later are new.
	Listed bool
	// CompleteUntil is the time until which all rows are known: that of the last answer or the last Change.
	CompleteUntil time.Time
	// While a listing runs, Lost is the time until which rows that it has not read yet can be believed.
	Lost   time.Time
	InDark bool // the last of Dark still lasts
	Err    error
	Outage Outage // caused by Change.Down
}

// add adds sources before they are connected, all of them or none.
func (h *Hub) add(specs []Spec) ([]*hubSource, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := map[string]bool{"": true}
	for _, f := range h.model.sources {
		taken[f.Name] = true
	}
	in := Input{Kind: InputSources, At: h.clock.Now()}
	for _, s := range specs {
		if taken[s.Name] {
			return nil, fmt.Errorf("adding source %q: the name is empty or taken", s.Name)
		}
		taken[s.Name] = true
		in.Added = append(in.Added, AddedSource{Name: s.Name, Type: s.Type, Address: s.Address, Silence: s.Silence, Agree: s.Agree})
	}
	u := h.enterLocked(nil, &in)
	added := h.model.sources[len(h.model.sources)-len(specs):]
	for i, f := range added {
		f.source, f.owners = specs[i].Source, specs[i].Owners
	}
	h.changedLocked(in.At, u)
	return added, nil
}

func (m *model) add(list []AddedSource) {
	m.sources = slices.Clone(m.sources) // Focus and Refresh read the old one without the lock
	for _, s := range list {
		m.addSource(SourceFacts{SourceStatus: SourceStatus{Name: s.Name, Type: s.Type, Address: s.Address, Agree: s.Agree}, SilenceLimit: s.Silence})
	}
	if m.resume != nil {
		m.goOn(m.resume, m.sources[len(m.sources)-len(list):])
		m.resume = nil
	}
}

func (m *model) addSource(facts SourceFacts) {
	m.sources = append(m.sources, &hubSource{SourceFacts: facts, hurry: make(chan struct{}, 1), scopes: map[string]*scope{}})
}

// source returns the source of this name, or nil.
func (m *model) source(name string) *hubSource {
	i := slices.IndexFunc(m.sources, func(f *hubSource) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return m.sources[i]
}

// status returns the source's SourceStatus, with the worst health of its scopes.
func (f *hubSource) status() SourceStatus {
	s := f.SourceStatus
	s.Rows = f.RowCount
	live := len(f.inOrder) > 0
	for _, sc := range f.inOrder {
		live = live && sc.Health == HealthLive
		if sc.Health == HealthStale {
			s.Health = HealthStale
			s.Err = cmp.Or(s.Err, sc.Err)
		}
	}
	if live {
		s.Health = HealthLive
	}
	return s
}

// connected records a successful Connect. The source is live only after an answer.
func (h *Hub) connected(f *hubSource) { h.enter(f, &Input{Kind: InputConnected}) }

// disconnected records a failed Connect, or a connection that ended. All rows of the source are
// stale at once. The next Connect is tried at retry.
func (h *Hub) disconnected(f *hubSource, err error, retry time.Time) {
	h.enter(f, &Input{Kind: InputDisconnected, Problem: Recordable(err), Retry: wallTime(retry)})
}

func (m *model) disconnected(f *hubSource, err *Problem, retry time.Time) {
	f.Err, f.Retry = err, retry
	told := false
	for _, sc := range f.inOrder {
		sc.beginListing() // the next connection lists everything again
		told = m.down(sc, err) || told
	}
	if f.Outage.isNews(err) && !told {
		m.commit(sourceEvent(EventSourceDown, f, m.at.Wall, err.Error()))
	}
}

// progress reports whether a live scope of the source has a complete listing on the present connection, and
// returns the longest silence limit of its scopes.
func (h *Hub) progress(f *hubSource) (listed bool, silence time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	silence = silenceAfter(f.SilenceLimit, 0)
	for _, sc := range f.inOrder {
		listed = listed || sc.Synced && sc.Health == HealthLive
		silence = max(silence, sc.Silence)
	}
	return listed, silence
}

// admit returns a Change in the form that the Hub applies and records: with times on the wall clock, owners labelled by
// the rules of the source, and a Recordable error. It is called without the lock, because a regular expression may be
// slow. It copies values of the source before it changes them.
func (f *hubSource) admit(c Change) Change {
	c.At, c.After, c.Decided = wallTime(c.At), wallTime(c.After), nil
	if c.Down != nil {
		c.Down = Recordable(c.Down)
	}
	if c.About != nil {
		about := *c.About
		about.Started = wallTime(about.Started)
		c.About = &about
	}
	c.Unseen = slices.Clone(c.Unseen)
	for i := range c.Unseen {
		c.Unseen[i].From, c.Unseen[i].To = wallTime(c.Unseen[i].From), wallTime(c.Unseen[i].To)
	}
	own := false
	for i, p := range c.Set {
		if len(f.owners) == 0 && onWallClock(p) {
			continue
		}
		if !own {
			c.Set, own = slices.Clone(c.Set), true
		}
		c.Set[i] = f.admitPrimitive(p)
	}
	return c
}

// admitPrimitive returns a copy of p with times on the wall clock and readable owners.
func (f *hubSource) admitPrimitive(p *Primitive) *Primitive {
	n := *p
	n.Owners = slices.Clone(p.Owners)
	n.Queue.Waiters, n.Candidates = f.admitWaiters(p.Queue.Waiters), f.admitWaiters(p.Candidates)
	for i := range n.Owners {
		o := &n.Owners[i]
		o.Label, o.Attrs = f.owners.apply(o.Label, o.Attrs)
	}
	n.OnWallClock()
	return &n
}

// OnWallClock removes the monotonic reading of every time in p. If a source calls it before it sends p, the Hub need
// not copy p.
func (p *Primitive) OnWallClock() {
	eachTime(p, func(t *time.Time) bool {
		if wall := wallTime(*t); wall != *t { // an unchanged time may be shared, so do not write it
			*t = wall
		}
		return true
	})
}

func (f *hubSource) admitWaiters(list []Waiter) []Waiter {
	list = slices.Clone(list)
	for i := range list {
		list[i].Label, list[i].Attrs = f.owners.apply(list[i].Label, list[i].Attrs)
	}
	return list
}

// onWallClock reports whether wallTime would change no time in p.
func onWallClock(p *Primitive) bool {
	return eachTime(p, func(t *time.Time) bool { return *t == wallTime(*t) })
}

// eachTime calls f with every time in p until one call returns false. It reports whether all
// of them returned true.
func eachTime(p *Primitive, f func(*time.Time) bool) bool {
	if !f(&p.At) || !f(&p.Queue.At) {
		return false
	}
	for i := range p.Owners {
		o := &p.Owners[i]
		if !f(&o.Since.At) || !f(&o.Expires.At) || !f(&o.Renewed.At) {
			return false
		}
	}
	for _, list := range [][]Waiter{p.Queue.Waiters, p.Candidates} {
		for i := range list {
			if !f(&list[i].Since.At) {
				return false
			}
		}
	}
	return true
}
