package sourcetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"coordtop/sources"
)

// beat is how often a Script with nothing to tell reports that its server answers.
const beat = time.Second

// Script is a Source that does what a test tells it to. All its methods are safe for
// concurrent use. The outcomes that are scripted for Connect or Next come in order; after
// them Connect succeeds, and Next returns proof of life every second.
type Script struct {
	scopes []string

	mu        sync.Mutex
	news      chan struct{} // closed and replaced when there is something new to do
	connects  []step
	steps     []step
	onConnect func() []sources.Change
	silent    bool
	record    Record
}

// Record is what happened to a Script so far.
type Record struct {
	Connects, Nexts, Closes int  // calls that began
	Overlapped              bool // two of Connect, Next and Close ran at a time
	Refreshes               int
	Visible                 []sources.Ref // of the last Focus
	Selected                sources.Ref
	busy                    bool
}

// step is one scripted outcome of a call.
type step struct {
	change sources.Change
	err    error
	panics any
	hangs  bool
}

// NewScript returns a source whose proofs of life name these scopes; none: the scope "".
func NewScript(scopes ...string) *Script {
	if len(scopes) == 0 {
		scopes = []string{""}
	}
	return &Script{scopes: scopes, news: make(chan struct{})}
}

func (s *Script) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.news)
	s.news = make(chan struct{})
}

// Push queues changes for Next. They carry the proof of life that the test puts in.
func (s *Script) Push(changes ...sources.Change) {
	s.update(func() {
		for _, c := range changes {
			s.steps = append(s.steps, step{change: c})
		}
	})
}

// Fail queues an error for Next.
func (s *Script) Fail(err error) { s.update(func() { s.steps = append(s.steps, step{err: err}) }) }

// Panic queues a panic for Next.
func (s *Script) Panic(v any) { s.update(func() { s.steps = append(s.steps, step{panics: v}) }) }

// Hang lets one Next block until its context ends.
func (s *Script) Hang() { s.update(func() { s.steps = append(s.steps, step{hangs: true}) }) }

// FailConnect queues an error for Connect.
func (s *Script) FailConnect(err error) {
	s.update(func() { s.connects = append(s.connects, step{err: err}) })
}

// PanicConnect queues a panic for Connect.
func (s *Script) PanicConnect(v any) {
	s.update(func() { s.connects = append(s.connects, step{panics: v}) })
}

// HangConnect lets one Connect block until its context ends.
func (s *Script) HangConnect() {
	s.update(func() { s.connects = append(s.connects, step{hangs: true}) })
}

// OnConnect names what every successful Connect from now on queues for Next, in place of
// what was still queued: the listing that each connection begins with.
func (s *Script) OnConnect(listing func() []sources.Change) {
	s.update(func() { s.onConnect = listing })
}

// Silence stops the proofs of life, or lets them go on. Pushed Changes are still told.
func (s *Script) Silence(on bool) { s.update(func() { s.silent = on }) }

// Record returns what happened so far.
func (s *Script) Record() Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.record
	r.Visible = slices.Clone(r.Visible)
	return r
}

// enter notes the beginning of a call that must not overlap another.
func (s *Script) enter(count *int) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*count++
	s.record.Overlapped = s.record.Overlapped || s.record.busy
	s.record.busy = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.record.busy = false
	}
}

// Connect does what was scripted, else succeeds.
func (s *Script) Connect(ctx context.Context) error {
	defer s.enter(&s.record.Connects)()
	s.mu.Lock()
	st, _ := pop(&s.connects)
	s.mu.Unlock()
	if err := st.outcome(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.onConnect != nil {
		s.steps = nil
		for _, c := range s.onConnect() {
			s.steps = append(s.steps, step{change: c})
		}
	}
	return nil
}

// Next does what was scripted. With nothing to do it waits, a second at most.
func (s *Script) Next(ctx context.Context) (sources.Change, error) {
	defer s.enter(&s.record.Nexts)()
	timer := time.NewTimer(beat)
	defer timer.Stop()
	for {
		s.mu.Lock()
		st, ok := pop(&s.steps)
		news, silent := s.news, s.silent
		s.mu.Unlock()
		if ok {
			return st.change, st.outcome(ctx)
		}
		select {
		case <-news:
		case <-ctx.Done():
			return sources.Change{}, ctx.Err()
		case <-timer.C:
			if silent {
				return sources.Change{}, nil
			}
			return sources.Change{Alive: slices.Clone(s.scopes)}, nil
		}
	}
}

// Close ends the connection.
func (s *Script) Close() error {
	s.enter(&s.record.Closes)()
	return nil
}

// Focus is recorded.
func (s *Script) Focus(visible []sources.Ref, selected sources.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Visible, s.record.Selected = slices.Clone(visible), selected
}

// Refresh is recorded.
func (s *Script) Refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Refreshes++
}

func pop(steps *[]step) (step, bool) {
	if len(*steps) == 0 {
		return step{}, false
	}
	first := (*steps)[0]
	*steps = (*steps)[1:]
	return first, true
}

func (s *step) outcome(ctx context.Context) error {
	switch {
	case s.panics != nil:
		panic(s.panics)
	case s.hangs:
		<-ctx.Done()
		return ctx.Err()
	case s.err != nil:
		return s.err
	}
	return ctx.Err()
}
