package sources

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/spawn"
)

// HubOptions bounds what a Hub remembers. Zero fields take the defaults.
type HubOptions struct {
	Events int // how many events are kept for subscribers, for 24 hours; 0: 100,000

	Thresholds Thresholds // zero: DefaultThresholds

	// Resume is what an earlier run knew at its end: sources that are the same in the first
	// ones that are added go on from it. nil: nothing.
	Resume *Keyframe

	Clock    Clock        // of the Hub and of the runners of its sources; nil: SystemClock
	Recorder *InputBuffer // keeps what the Hub takes in; nil: nothing is recorded
}

const (
	defaultEvents = 100_000
	eventAge      = 24 * time.Hour
)

// Hub turns the Changes of all sources into events and states; it is their only writer.
// All its methods are safe for concurrent use and none waits for a source, a
// subscriber or the screen.
type Hub struct {
	state    atomic.Pointer[State]
	clock    Clock
	recorder *InputBuffer // nil: nothing is recorded

	kick   chan struct{} // capacity 1: a publish is due earlier than the publisher knows
	stop   chan struct{}
	broken chan error // capacity 1: why the publisher ended, if not by stop
	once   sync.Once
	joined sync.WaitGroup // the publisher

	mu     sync.Mutex // held while one Change is applied and while a state is made
	model  model
	drift  time.Duration // how far the wall clock has run ahead of the monotonic one
	forget int           // the slot where forgetting goes on
	turn   time.Duration // when what is too old is dropped again
	pace   pace
}

// enter applies what comes from outside: it reads the clock, applies what that decides, then
// in, and publishes if that is due. f is the source that in concerns; nil: none.
func (h *Hub) enter(f *hubSource, in *Input) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in.At = h.clock.Now()
	h.checkClockLocked(in.At)
	h.changedLocked(in.At, h.enterLocked(f, in))
}

// enterLocked is the only way to change the model: every Input is recorded here. It returns how
// soon that must be published; publishing is an Input of its own.
func (h *Hub) enterLocked(f *hubSource, in *Input) urgency {
	u := h.model.apply(f, in)
	if s := h.model.published; s != h.state.Load() {
		h.state.Store(s)
		h.model.ring.wake(h.pace.hot)
	}
	if h.recorder != nil {
		h.recorder.add(in)
	}
	return u
}

// NewHub returns a Hub and starts its publisher, a goroutine that Close ends. ctx only says
// who is told of a panic, see spawn.With; its end is not that of the Hub.
func NewHub(ctx context.Context, o HubOptions) *Hub {
	o.Thresholds = cmp.Or(o.Thresholds, DefaultThresholds())
	o.Clock = cmp.Or(o.Clock, SystemClock())
	if o.Resume != nil && o.Resume.Resume != nil { // it ended before it had any source
		o.Resume = o.Resume.Resume
	}
	h := newHub(o)
	h.model.ring.lean = true
	h.enterLocked(nil, &Input{Kind: InputStarted, At: h.clock.Now(), Thresholds: &o.Thresholds, Resume: o.Resume}) // nobody else has h yet
	now := h.model.start.Mono
	h.turn, h.pace = now, pace{busy: now - publishEvery, rushed: now - urgentEvery} // it was quiet up to now
	spawn.Go(ctx, &h.joined, func() {
		if err := spawn.Call(ctx, h.publisher); err != nil {
			h.broken <- err
		}
	})
	return h
}

// newHub returns a Hub to which nothing has happened yet, not even its start.
func newHub(o HubOptions) *Hub {
	o.Events = cmp.Or(max(o.Events, 0), defaultEvents)
	h := &Hub{
		clock:    o.Clock,
		recorder: o.Recorder,
		kick:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
		broken:   make(chan error, 1),
		model: model{
			ring:      newRing(o.Events, eventAge),
			known:     map[int]*Primitive{},
			queued:    map[int]*Primitive{},
			published: &State{},
		},
	}
	h.state.Store(h.model.published)
	return h
}

// Close stops and joins the publisher, after it has published what was still to be told.
// State and Subscriptions can still be read. Closing again is harmless.
func (h *Hub) Close() {
	h.once.Do(func() { close(h.stop) })
	h.joined.Wait()
}

// Now is the time on the clock of this Hub, which that of a Replayer has not.
func (h *Hub) Now() Instant { return h.clock.Now() }

// State returns the latest published state, never nil. Every event up to its LastSeq is
// in it, so Subscribe(State().LastSeq) goes on exactly where it ends.
func (h *Hub) State() *State { return h.state.Load() }

// Subscribe starts reading behind the event numbered from; 0: all that are kept. A
// number that has not been given yet counts as the newest.
func (h *Hub) Subscribe(from uint64) *Subscription { return h.model.ring.subscribe(from) }

// Row returns the row of ref in s, a State of this Hub; nil: there is none in it.
func (h *Hub) Row(s *State, ref Ref) *Row {
	slot, ok := h.model.index.find(ref)
	if !ok || slot >= len(s.Rows) || s.Rows[slot] == nil || s.Rows[slot].Ref != ref { // the index may be newer than s
		return nil
	}
	return s.Rows[slot]
}

// Focus names the rows on screen: a change of owner in one of them is published at once.
// It also tells every source that can read faster what is on screen which of its rows are
// visible and which one is selected (the zero Ref if none of its own). Each call replaces
// the rows of the last.
func (h *Hub) Focus(visible []Ref, selected Ref) {
	watched := make(map[Ref]struct{}, len(visible)+1)
	bySource := map[string][]Ref{}
	for _, ref := range visible {
		watched[ref] = struct{}{}
		bySource[ref.Source] = append(bySource[ref.Source], ref)
	}
	if selected != (Ref{}) {
		watched[selected] = struct{}{}
	}
	h.mu.Lock()
	h.model.watched = watched
	sources := h.model.sources
	h.mu.Unlock()
	for _, f := range sources {
		focuser, ok := f.source.(Focuser)
		if !ok {
			continue
		}
		var own Ref
		if selected.Source == f.Name {
			own = selected
		}
		focuser.Focus(bySource[f.Name], own)
	}
}

// Refresh asks a source, or all with "", to look again now; one that waits for its next
// Connect tries at once.
func (h *Hub) Refresh(source string) {
	h.mu.Lock()
	sources := h.model.sources
	h.mu.Unlock()
	for _, f := range sources {
		if source != "" && source != f.Name {
			continue
		}
		spawn.Wake(f.hurry)
		if r, ok := f.source.(Refresher); ok {
			r.Refresh()
		}
	}
}

// AddEvent adds what no source tells to the events: what a person did through this program
// (EventAction). At is filled in where it is zero. Rows and terms are not touched: what
// came of an action is for the sources to see.
func (h *Hub) AddEvent(e Event) {
	e.At, e.After = wallTime(e.At), wallTime(e.After)
	h.enter(nil, &Input{Kind: InputNote, Note: &e})
}

func (m *model) note(e Event) {
	if e.At.IsZero() {
		e.At = m.at.Wall
	}
	m.commit(e)
	if slot, ok := m.index.find(e.Ref); ok && e.Kind == EventAction {
		m.forced(slot, &e)
	}
}

// forced gives the term of a row that an action ended by force its cause, and its end where nobody looked then: another
// coordtop did it, and its audit was read only after the end was seen.
func (m *model) forced(slot int, action *Event) {
	for i := len(m.rows[slot].Terms) - 1; i >= 0; i-- {
		if Forced(&m.rows[slot].Terms[i], action) && m.rows[slot].Terms[i].Cause != CauseEvicted {
			row := m.draft(slot)
			row.Terms = slices.Clone(row.Terms)
			t := &row.Terms[i]
			t.Cause, t.How = CauseEvicted, Told
			end := StampBetween(Later(t.End.Earliest(), action.At), Earlier(t.End.At, action.At.Add(ForcedWithin)), t.End.How)
			if row.Nobody == t.End {
				row.Nobody = end
			}
			if t.End = end; i+1 < len(row.Terms) {
				row.Terms[i+1].Start = notBefore(row.Terms[i+1].Start, end)
			}
			return
		}
	}
}

// model is what a Hub knows. It changes by Inputs only and reads neither a clock nor a setting,
// so that the same Inputs make the same model again. Its Hub holds the lock.
type model struct {
	ring  *ring
	index index // may be read without the lock

	start     Instant // of InputStarted
	limit     Thresholds
	sources   []*hubSource // in the order in which they were added
	scopes    []*scope     // by Row.Scope
	rows      []*Row       // by slot, as the next State will show them
	free      []Vacancy
	known     map[int]*Primitive // by slot: the last with known owners, where the row's are unknown
	queued    map[int]*Primitive // by slot: the last with a whole queue, where the row's is not
	expected  []Expectation
	events    []Event   // of the primitive being applied; kept to spare allocations
	proved    []Event   // what Change.Decided says of the owners that the last Change proved the same
	inputs    uint64    // how many were applied
	at        Instant   // of the one that is applied now
	published *State    // the latest
	resume    *Keyframe // what the sources that are added first go on from; nil: nothing

	watched map[Ref]struct{} // on screen: no Input, since it only decides how soon a State is published
}

// apply changes the model by one Input and returns how soon that must be published. f is the
// source that in concerns; nil: none.
func (m *model) apply(f *hubSource, in *Input) urgency {
	m.inputs++
	in.Seq, m.at = m.inputs, in.At
	if f != nil {
		in.Source = f.Name
	}
	switch in.Kind {
	case InputStarted:
		m.start, m.limit, m.resume = in.At, *in.Thresholds, in.Resume
		m.published = &State{At: in.At.Wall, Thresholds: m.limit}
		return idle
	case InputSources:
		m.add(in.Added)
		return urgent
	case InputChange:
		return m.change(f, &in.Change)
	case InputConnected:
		f.Retry = time.Time{}
		return calm
	case InputDisconnected:
		m.disconnected(f, in.Problem, in.Retry)
		return urgent
	case InputExpected:
		m.expect(in.Expected)
		return idle
	case InputNote:
		m.note(*in.Note)
		return urgent
	case InputSilent:
		m.silent(f.scopes[in.Scope])
		return urgent
	case InputClockStep:
		m.clockStep(in.Step)
		return urgent
	case InputForgotten:
		if slot, ok := m.index.find(in.Ref); ok {
			m.vacate(slot)
		}
		return normal
	case InputPublished:
		in.State = m.state()
		m.published = in.State
		return idle
	}
	panic("sources: an input of no kind")
}
