package notify

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// Receiver takes the messages of a rule.
type Receiver struct {
	Rule
	Key     string                                          // tells the rule from others, also after a restart
	Name    string                                          // for people: "notify[0]"
	Deliver func(ctx context.Context, payload []byte) error // with an error that has no secret
}

// Options configure a Notifier.
type Options struct {
	Receivers []Receiver
	Path      string                  // of the file; "": nothing is remembered; its folder is for this user alone
	Look      func() *Look            // what is found now; nil: another process tells, or none
	Payload   func(m *Message) []byte // what Deliver gets
	Logger    *slog.Logger            // nil: nothing is logged
}

// every is the time between two looks.
const every = time.Second

// Notifier tells the receivers what is found.
type Notifier struct {
	o    Options
	all  []*sender
	done chan settled
	kept map[string][]*cause // of the file, those of other configs too

	mu     sync.Mutex
	memory string // what is wrong with the file; "": nothing
}

// settled is a message that was delivered, or given up.
type settled struct {
	to    *sender
	id    string
	event Event
}

// New returns a Notifier, which does nothing before Run.
func New(o Options) *Notifier {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	n := &Notifier{o: o, done: make(chan settled, len(o.Receivers))}
	for i := range o.Receivers {
		r := &o.Receivers[i]
		n.all = append(n.all, &sender{receiver: r, tracker: NewTracker(r.Rule), queue: make(chan queued, mostQueued), payload: o.Payload, logger: o.Logger})
	}
	return n
}

// Trouble returns a sentence about receivers that did not take messages, and about the file; "": all is well. It is
// safe for concurrent use.
func (n *Notifier) Trouble() string {
	n.mu.Lock()
	list := []string{n.memory}
	n.mu.Unlock()
	for _, s := range n.all {
		list = append(list, s.trouble())
	}
	var said []string
	for _, text := range list {
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "; ")
}

// Run tells what is found until ctx ends. Messages that were not delivered by then are sent by the next run.
func (n *Notifier) Run(ctx context.Context) error {
	var sending sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		sending.Wait()
		for len(n.done) > 0 {
			n.settle(<-n.done)
		}
		n.save()
	}()
	for _, s := range n.all {
		spawn.Go(ctx, &sending, func() { s.run(ctx, n.done) })
	}
	began := false
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case one := <-n.done:
			n.settle(one)
			n.save()
			continue
		case <-tick.C:
		}
		look := n.o.Look()
		if look == nil {
			began = false
			continue
		}
		if !began {
			began = true
			n.restore(ctx)
		}
		for _, s := range n.all {
			for _, m := range s.tracker.Step(look) {
				s.take(m)
			}
		}
		n.save()
	}
}

func (n *Notifier) settle(one settled) { one.to.tracker.Settled(one.id, one.event) }

// restore takes what an earlier run told.
func (n *Notifier) restore(ctx context.Context) {
	var m memory
	var err error
	if n.o.Path != "" {
		m, err = readMemory(ctx, n.o.Path)
	}
	n.say(err)
	n.kept = m.Rules
	for _, s := range n.all {
		s.tracker = NewTracker(s.receiver.Rule)
		for _, due := range s.tracker.restore(m.Rules[s.receiver.Key]) {
			s.take(due)
		}
	}
}

// save writes what was told, if that has changed.
func (n *Notifier) save() {
	changed := false
	for _, s := range n.all {
		changed = changed || s.tracker.changed
	}
	if !changed || n.o.Path == "" {
		return
	}
	m := memory{V: 1, Rules: map[string][]*cause{}}
	maps.Copy(m.Rules, n.kept)
	for _, s := range n.all {
		m.Rules[s.receiver.Key] = s.tracker.snapshot()
	}
	err := m.write(n.o.Path)
	n.all[0].tracker.changed = err != nil // it is tried again then
	n.say(err)
}

// say notes what is wrong with the file.
func (n *Notifier) say(err error) {
	text := ""
	if err != nil {
		text = fmt.Sprintf("%v: after a restart it is told again", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if text != n.memory && text != "" {
		n.o.Logger.Warn("notifying", "err", err)
	}
	n.memory = text
}

// mostQueued bounds the messages that wait for a receiver.
const mostQueued = 32

// attempts is how often a message is sent to a receiver that fails.
const attempts = 5

// timeout is the time in which a receiver must take a message.
const timeout = 10 * time.Second

// pauses are those between two attempts.
var pauses = backoff.Policy{Min: 2 * time.Second, Max: time.Minute}

// sender sends the messages of a rule, one after the other.
type sender struct {
	receiver *Receiver
	tracker  *Tracker // only Run uses it
	queue    chan queued
	payload  func(m *Message) []byte
	logger   *slog.Logger

	mu    sync.Mutex
	wrong string // why the last attempt failed; "": it did not
	lost  int    // messages that were given up since the last that was delivered
}

// queued is a message that waits.
type queued struct {
	id      string
	event   Event
	payload []byte
}

// take queues a message. It does not block: where there is no room the message is lost.
func (s *sender) take(m Message) {
	select {
	case s.queue <- queued{m.ID, m.Event, s.payload(&m)}:
	default:
		s.tracker.Settled(m.ID, m.Event)
		s.failed("too many messages wait for it", 1)
	}
}

// run sends until ctx ends.
func (s *sender) run(ctx context.Context, done chan<- settled) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-s.queue:
			if !s.send(ctx, m.payload) {
				return
			}
			done <- settled{s, m.id, m.event} // Run reads it, also at its end
		}
	}
}

// send tries to deliver a message; false: ctx has ended first.
func (s *sender) send(ctx context.Context, payload []byte) bool {
	pause := pauses.Start()
	for i := range attempts {
		if i > 0 && pause.Wait(ctx) != nil {
			return false
		}
		bound, cancel := context.WithTimeout(ctx, timeout)
		err := s.receiver.Deliver(bound, payload)
		cancel()
		if err == nil {
			s.delivered()
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		lost := 0
		if i == attempts-1 {
			lost = 1
		}
		s.failed(err.Error(), lost)
	}
	return true
}

func (s *sender) delivered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong, s.lost = "", 0
}

func (s *sender) failed(why string, lost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong != why || lost > 0 {
		s.logger.Warn("notifying", "rule", s.receiver.Name, "err", why, "given up", lost > 0)
	}
	s.wrong, s.lost = why, s.lost+lost
}

// trouble returns what is wrong with the receiver; "": nothing.
func (s *sender) trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.wrong == "":
		return ""
	case s.lost == 0:
		return fmt.Sprintf("%s: %s; trying again", s.receiver.Name, s.wrong)
	case s.lost == 1:
		return fmt.Sprintf("%s: %s; 1 message was not delivered", s.receiver.Name, s.wrong)
	}
	return fmt.Sprintf("%s: %s; %d messages were not delivered", s.receiver.Name, s.wrong, s.lost)
}
