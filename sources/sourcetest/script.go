package sourcetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"coordtop/sources"
)

// beat is the interval at which a Script without changes reports that its server answers.
const beat = time.Second

// Script is a Source that does what a test demands. All its methods are safe for concurrent use. The outcomes that are
// scripted for Connect or Next come in order; after them Connect succeeds, and Next returns proof of life every second.
type Script struct {
	scopes []string

	mu        sync.Mutex
	news      chan struct{} // closed and replaced when a step is added
	connects  []step
	steps     []step
	onConnect func() []sources.Change
	silent    bool
	record    Record
}

// Record counts the calls of a Script so far, and has their arguments.
type Record struct {
	Connects, Nexts, Closes int  // calls that began
	Overlapped              bool // two of Connect, Next and Close ran at the same time
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

// NewScript returns a source whose proofs of life name these scopes. The default is the scope "".
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

// Push queues changes for Next. They have only the proof of life that the test sets.
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

// Hang queues a Next that blocks until its context ends.
func (s *Script) Hang() { s.update(func() { s.steps = append(s.steps, step{hangs: true}) }) }

// FailConnect queues an error for Connect.
func (s *Script) FailConnect(err error) {
	s.update(func() { s.connects = append(s.connects, step{err: err}) })
}

// PanicConnect queues a panic for Connect.
func (s *Script) PanicConnect(v any) {
	s.update(func() { s.connects = append(s.connects, step{panics: v}) })
}

// HangConnect queues a Connect that blocks until its context ends.
func (s *Script) HangConnect() {
	s.update(func() { s.connects = append(s.connects, step{hangs: true}) })
}

// OnConnect sets the listing with which each connection begins. From now on every successful Connect queues it for
// Next, in place of what was queued.
func (s *Script) OnConnect(listing func() []sources.Change) {
	s.update(func() { s.onConnect = listing })
}

// Silence stops or resumes the proofs of life. Pushed Changes are still sent.
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

// Connect does the next scripted step, else succeeds.
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

// Next does the next scripted step. Without one it waits for at most a second.
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

// Focus records the call.
func (s *Script) Focus(visible []sources.Ref, selected sources.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Visible, s.record.Selected = slices.Clone(visible), selected
}

// Refresh records the call.
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
