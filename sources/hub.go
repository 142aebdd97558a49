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
	Events int // most events kept for subscribers, for 24 hours; 0: 100,000

	Thresholds Thresholds // zero: DefaultThresholds

	// Resume is the last Keyframe of an earlier run. The sources that are added first continue from it if they are the
	// same. If it is nil, nothing is resumed.
	Resume *Keyframe

	Clock    Clock        // of the Hub and of the runners of its sources; nil: SystemClock
	Recorder *InputBuffer // keeps the Inputs of the Hub; may be nil
}

const (
	defaultEvents = 100_000
	eventAge      = 24 * time.Hour
)

// Hub turns the Changes of all sources into events and states; only the Hub writes them. Its methods are safe for
// concurrent use, and none waits for a source, a subscriber or the screen.
type Hub struct {
	state    atomic.Pointer[State]
	clock    Clock
	recorder *InputBuffer // may be nil

	kick   chan struct{} // capacity 1: a publish is due earlier than the publisher expects
	stop   chan struct{}
	broken chan error // capacity 1: the error that ended the publisher
	once   sync.Once
	joined sync.WaitGroup // waits for the publisher

	mu     sync.Mutex // held while one Change is applied and while a state is made
	model  model
	drift  time.Duration // of the wall clock ahead of the monotonic one
	forget int           // the slot at which forgetLocked continues
	turn   time.Duration // when old events and rows are dropped next, as Instant.Mono
	pace   pace
}

// enter applies an Input from outside. It reads the clock, applies the Inputs that time decides, then the Input, and
// publishes if that is due. f is the source of the Input, or nil.
func (h *Hub) enter(f *hubSource, in *Input) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in.At = h.clock.Now()
	h.checkClockLocked(in.At)
	h.changedLocked(in.At, h.enterLocked(f, in))
}

// enterLocked records an Input and applies it to the model, which changes in no other way. It returns the urgency of
// the change; publishing is an Input of its own.
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

// NewHub returns a Hub and starts its publisher, a goroutine that Close ends. ctx only carries
// the handler of panics, see spawn.With; its end does not end the Hub.
func NewHub(ctx context.Context, o HubOptions) *Hub {
	o.Thresholds = cmp.Or(o.Thresholds, DefaultThresholds())
	o.Clock = cmp.Or(o.Clock, SystemClock())
	if o.Resume != nil && o.Resume.Resume != nil { // that run ended before it had any source
		o.Resume = o.Resume.Resume
	}
	h := newHub(o)
	h.model.ring.lean = true
	h.enterLocked(nil, &Input{Kind: InputStarted, At: h.clock.Now(), Thresholds: &o.Thresholds, Resume: o.Resume}) // h is not shared yet
	now := h.model.start.Mono
	h.turn, h.pace = now, pace{busy: now - publishEvery, rushed: now - urgentEvery} // as if nothing was published recently
	spawn.Go(ctx, &h.joined, func() {
		if err := spawn.Call(ctx, h.publisher); err != nil {
			h.broken <- err
		}
	})
	return h
}

// newHub returns a Hub without any Input, not even InputStarted.
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

// Close stops and joins the publisher, after it has published all changes.
// State and Subscriptions can still be read. A second call does nothing.
func (h *Hub) Close() {
	h.once.Do(func() { close(h.stop) })
	h.joined.Wait()
}

// Now returns the time on the clock of this Hub. The Hub of a Replayer has no clock.
func (h *Hub) Now() Instant { return h.clock.Now() }

// State returns the latest published state, never nil. It contains every event up to its LastSeq, so that
// Subscribe(State().LastSeq) continues exactly where the state ends.
func (h *Hub) State() *State {
	if h.model.private.Load() {
		h.mu.Lock() // a State is not being published
		h.model.private.Store(false)
		h.mu.Unlock()
	}
	return h.state.Load()
}

// Subscribe returns a Subscription to the events with numbers above from. With 0 it starts at the oldest event that is
// kept. A number that does not exist yet counts as the newest.
func (h *Hub) Subscribe(from uint64) *Subscription { return h.model.ring.subscribe(from) }

// Row returns the row of ref in s, a State of this Hub, or nil.
func (h *Hub) Row(s *State, ref Ref) *Row {
	slot, ok := h.model.index.find(ref)
	if !ok || slot >= len(s.Rows) || s.Rows[slot] == nil || s.Rows[slot].Ref != ref { // the index may be newer than s
		return nil
	}
	return s.Rows[slot]
}

// Focus sets the rows on screen: a change of owner in one of them is published at once.
// Every source that is a Focuser receives its visible rows and the selected one (the zero
// Ref if that is no row of its own). Each call replaces the rows of the last.
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

// Refresh asks a source, or all with "", to read everything again now; a source that waits for its next Connect
// connects at once.
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

// Expect announces that we are about to end an ownership ourselves. If the owner is gone within that time and the
// service tells no cause, the cause is e.Cause; but a lease that ran out still counts as expired. e.How is one of:
//
//   - Unknown: we do it ourselves; the end is [Ours].
//   - Inferred: a service was asked to end it and has not answered. An end that is seen before the answer may still be
//     the owner's own.
//   - Told: the service answered that it has ended it; an expected end that was not seen yet is [Ours].
//
// The first end of that owner uses up the expectation, whatever its cause. If within is 0, the call withdraws the
// expectation.
func (h *Hub) Expect(e Ending, within time.Duration) {
	h.enter(nil, &Input{Kind: InputExpected, Expected: &Expected{Ending: e, Within: within}})
}

func (m *model) expect(e *Expected) {
	stands := find(m.expectedEnds(e.Ref), func(x *Expectation) bool { return x.Owner == e.Owner }) != nil
	m.expected = slices.DeleteFunc(m.expected, func(x Expectation) bool { return m.at.Mono > x.Until })
	if e.Within > 0 && e.How == Told && !stands { // the end was seen already
		return
	}
	m.dropExpected(e.Ref, e.Owner)
	if e.Within <= 0 {
		return
	}
	x := Expectation{Ending: e.Ending, Until: m.at.Mono + e.Within}
	if x.How != Inferred {
		x.How = Ours
	}
	m.expected = append(m.expected, x)
}

// AddEvent adds an event that no source sends: an action of a person through this program (EventAction), or a note. At
// zero becomes now. Rows and terms do not change, because the sources will see the result of an action; the exception
// is a term that the action ended by force.
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

// ForcedWithin bounds the time from the sending of a forced release until its end is seen.
const ForcedWithin = 15 * time.Second

// Forced reports whether an action may have ended the ended term t by force: that is, whether the owner and the time
// agree.
func Forced(t *Term, action *Event) bool {
	return action.Kind == EventAction && action.Cause == CauseEvicted && action.Previous.ID == t.Owner.ID && t.End.How != Unknown &&
		!action.At.Before(t.Start.At) && (!action.At.After(t.End.At) || t.End.How == Bound) && !t.End.Earliest().After(action.At.Add(ForcedWithin))
}

// forced sets the cause of a term that an action ended by force, and also its end if no look was near. This is needed
// if another coordtop acted and its audit was read only after the end was seen.
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

// model is the state of a Hub. Only Inputs change it, and it reads neither a clock nor a setting, so that the same
// Inputs produce the same model. The Hub's lock guards it.
type model struct {
	ring  *ring
	index index // may be read without the lock

	start     Instant // of InputStarted
	limit     Thresholds
	sources   []*hubSource // in the order in which they were added
	scopes    []*scope     // by Row.Scope
	rows      []*Row       // by slot, as in the next State
	free      []Vacancy
	homes     map[Ref]Vacancy    // slots that a Follower keeps for rows of its last run; else nil
	known     map[int]*Primitive // by slot: the last look with known owners, if the row has none
	queued    map[int]*Primitive // by slot: the last look with a whole queue, if the row has none
	expected  []Expectation
	events    []Event     // of the primitive being applied; reused
	olds      []int       // look.olds, reused
	inputs    uint64      // number of applied Inputs
	at        Instant     // of the Input being applied
	published *State      // the latest
	private   atomic.Bool // in a replay: nobody else has published, so that the next one may reuse its lists
	resume    *Keyframe   // HubOptions.Resume until the first sources are added; may be nil

	watched map[Ref]struct{} // rows on screen; not an Input, because they only decide how soon a State is published
}

// apply changes the model by one Input and returns the urgency of the change. f is the source of the Input, or nil.
func (m *model) apply(f *hubSource, in *Input) urgency {
	m.inputs++
	in.Seq, m.at = m.inputs, in.At
	if f != nil {
		in.Source = f.Name
	}
	switch in.Kind {
	case InputStarted:
		m.start, m.limit, m.resume = in.At, *in.Thresholds, in.Resume
		m.published = &State{Rev: m.published.Rev, At: in.At.Wall, LastSeq: m.published.LastSeq, Rows: slices.Clone(m.rows), Thresholds: m.limit}
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
