package sources

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// feed is one source as the Hub knows it.
type feed struct {
	feedFacts
	source  Source
	hurry   chan struct{} // capacity 1: connect now instead of after the pause
	scopes  map[string]*scope
	inOrder []*scope
	owners  OwnerRules
	stepped atomic.Pointer[error] // why all must be read anew: the clock was set; nil: it need not
}

// feedFacts is what a Keyframe has of a feed.
type feedFacts struct {
	SourceStatus // Health and Rows are worked out when a state is made
	silence      time.Duration
	rows         int
	outage       outage
}

// scope is what can be silent alone.
type scope struct {
	Scope
	feed     *feed
	index    int
	answered time.Duration // Alive on the monotonic clock
	// listed: a listing was complete once, so that what appears later is new.
	listed bool
	// completeUntil is up to when the rows are known to have been complete: the last answer or
	// the last Change.
	completeUntil time.Time
	// lost is, while a listing runs after a gap, up to when rows that were not read since
	// can be believed.
	lost   time.Time
	dark   bool // the last of Dark still lasts
	err    error
	outage outage // what Change.Down said
}

// silenceLimit is the least silence limit of a scope.
const silenceLimit = 3 * time.Second

// silenceAfter is the limit for a scope that is looked at every sampling (0: pushed).
func silenceAfter(lowest, sampling time.Duration) time.Duration {
	if lowest <= 0 {
		lowest = silenceLimit
	}
	return max(lowest, sampling*5/2)
}

// add makes room for sources before they are connected, for all of them or for none.
func (h *Hub) add(specs []Spec) ([]*feed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := map[string]bool{"": true}
	for _, f := range h.model.feeds {
		taken[f.Name] = true
	}
	in := Input{Kind: InputSources, At: h.clock.Now()}
	for _, s := range specs {
		if taken[s.Name] {
			return nil, fmt.Errorf("adding source %q: the name is empty or taken", s.Name)
		}
		taken[s.Name] = true
		in.Added = append(in.Added, AddedSource{Name: s.Name, Type: s.Type, Address: s.Address, Silence: s.Silence})
	}
	u := h.enterLocked(nil, &in)
	added := h.model.feeds[len(h.model.feeds)-len(specs):]
	for i, f := range added {
		f.source, f.owners = specs[i].Source, specs[i].Owners
	}
	h.changedLocked(in.At, u)
	return added, nil
}

func (m *model) add(list []AddedSource) {
	m.feeds = slices.Clone(m.feeds) // Focus and Refresh walk the old one unlocked
	for _, s := range list {
		m.addFeed(feedFacts{SourceStatus: SourceStatus{Name: s.Name, Type: s.Type, Address: s.Address}, silence: s.Silence})
	}
	if m.resume != nil {
		m.goOn(m.resume, m.feeds[len(m.feeds)-len(list):])
		m.resume = nil
	}
}

func (m *model) addFeed(facts feedFacts) {
	m.feeds = append(m.feeds, &feed{feedFacts: facts, hurry: make(chan struct{}, 1), scopes: map[string]*scope{}})
}

// feed finds a source by its name; nil: there is none.
func (m *model) feed(name string) *feed {
	i := slices.IndexFunc(m.feeds, func(f *feed) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return m.feeds[i]
}

// scope returns the scope of this name, made when it is first mentioned.
func (m *model) scope(f *feed, name string) *scope {
	if f.scopes[name] == nil {
		m.addScope(f, scope{Scope: Scope{Source: f.Name, Name: name, Silence: silenceAfter(f.silence, 0)}})
	}
	return f.scopes[name]
}

func (m *model) addScope(f *feed, sc scope) {
	sc.feed, sc.index = f, len(m.scopes)
	f.scopes[sc.Name] = &sc
	f.inOrder = append(f.inOrder, &sc)
	m.scopes = append(m.scopes, &sc)
}

// status is what a state shows of the source: the worst of its scopes.
func (f *feed) status() SourceStatus {
	s := f.SourceStatus
	s.Rows = f.rows
	live := len(f.inOrder) > 0
	for _, sc := range f.inOrder {
		live = live && sc.Health == HealthLive
		if sc.Health == HealthStale {
			s.Health = HealthStale
			if s.Err == nil {
				s.Err = sc.err
			}
		}
	}
	if live {
		s.Health = HealthLive
	}
	return s
}

// longestSilence is the longest silence limit of the source's scopes.
func (h *Hub) longestSilence(f *feed) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	limit := silenceAfter(f.silence, 0)
	for _, sc := range f.inOrder {
		limit = max(limit, sc.Silence)
	}
	return limit
}

// connected takes in that a Connect succeeded. Only an answer makes the source live.
func (h *Hub) connected(f *feed) { h.enter(f, &Input{Kind: InputConnected}) }

// disconnected takes in that a Connect or the connection failed, and when it is tried
// again: everything that the source showed is stale at once.
func (h *Hub) disconnected(f *feed, err error, retry time.Time) {
	h.enter(f, &Input{Kind: InputDisconnected, Problem: recordable(err), Retry: wallTime(retry)})
}

func (m *model) disconnected(f *feed, err *Problem, retry time.Time) {
	f.Err, f.Retry = err, retry
	told := false
	for _, sc := range f.inOrder {
		sc.beginListing() // the next connection begins with a gap
		told = m.down(sc, err) || told
	}
	if f.outage.isNews(err) && !told {
		m.commit(sourceEvent(EventSourceDown, f, m.at.Wall, err.Error()))
	}
}

// listed reports whether a scope of the source that answers has been read as a whole since
// the last gap.
func (h *Hub) listed(f *feed) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(f.inOrder, func(sc *scope) bool { return sc.Synced && sc.Health == HealthLive })
}

// sourceEvent tells something of a source as a whole.
func sourceEvent(kind EventKind, f *feed, at time.Time, detail string) Event {
	return Event{At: at, Kind: kind, How: Seen, Ref: Ref{Source: f.Name}, Detail: detail}
}

// event tells something of a scope.
func (sc *scope) event(kind EventKind, at time.Time, detail string) Event {
	e := sourceEvent(kind, sc.feed, at, detail)
	e.Scope = sc.Name
	return e
}

// down marks a scope stale, dark from its last answer on. It reports whether it
// was not stale before, which is an event.
func (m *model) down(sc *scope, err error) bool {
	sc.err = err
	if sc.Health == HealthStale {
		return false
	}
	sc.Health = HealthStale
	sc.beginDark(sc.completeUntil)
	e := sc.event(EventSourceDown, m.at.Wall, err.Error())
	e.After = sc.completeUntil
	m.commit(e)
	return true
}

// refused records why a scope cannot be read, although its source is connected.
func (m *model) refused(sc *scope, err error) {
	told := m.down(sc, err)
	if sc.outage.isNews(err) && !told {
		m.commit(sc.event(EventSourceDown, m.at.Wall, err.Error()))
	}
	sc.feed.outage.isNews(err) // it has been told
}

// alive records that the scope's server answered.
func (m *model) alive(sc *scope) {
	was, now := sc.Health, m.at
	sc.Health, sc.Alive, sc.answered, sc.err, sc.outage = HealthLive, now.Wall, now.Mono, nil, outage{}
	sc.completeUntil = Later(sc.completeUntil, now.Wall)
	sc.feed.Err, sc.feed.Retry, sc.feed.outage = nil, time.Time{}, outage{}
	if sc.Synced {
		sc.endDark(now.Wall)
	}
	if was != HealthLive {
		m.commit(sc.event(EventSourceUp, now.Wall, sc.About.Mode))
	}
}

// beginDark begins a stretch that was not observed, unless one lasts. Before the first answer
// nothing can be missed.
func (sc *scope) beginDark(from time.Time) {
	if !sc.dark && !from.IsZero() {
		sc.dark = true
		sc.Dark = withDark(sc.Dark, from)
	}
}

// endDark ends the stretch that lasts.
func (sc *scope) endDark(to time.Time) {
	if sc.dark {
		sc.dark = false
		sc.Dark = withDarkEnd(sc.Dark, to)
	}
}

// checkSilenceLocked turns scopes stale whose server did not answer for their limit. It
// returns how long that cannot happen again, a tick at most.
func (h *Hub) checkSilenceLocked(now Instant) time.Duration {
	next := tick
	for _, sc := range h.model.scopes {
		if sc.Health != HealthLive {
			continue
		}
		left := sc.Silence - (now.Mono - sc.answered)
		if left > 0 {
			next = min(next, left)
			continue
		}
		h.changedLocked(now, h.enterLocked(sc.feed, &Input{Kind: InputSilent, At: now, Scope: sc.Name}))
	}
	return next
}

func (m *model) silent(sc *scope) {
	err := silentFor(sc.Silence)
	m.down(sc, err)
	sc.feed.outage.isNews(err) // it has just been told
}

func silentFor(limit time.Duration) error {
	return recordable(fmt.Errorf("%w for %v", ErrSilent, limit))
}
