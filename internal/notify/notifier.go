package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
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
	Logger    *slog.Logger
}

// every is the time between two looks.
const every = time.Second

// Notifier tells the receivers what is found.
type Notifier struct {
	o     Options
	all   []*sender
	rules map[string][]*cause // for the file, those of other configs too
	saved []byte              // what the file has

	writing chan struct{} // has room unless a write to the file has not returned
	file    condition
}

// New returns a Notifier, which does nothing before Run.
func New(o Options) *Notifier {
	n := &Notifier{o: o, writing: make(chan struct{}, 1), file: condition{logger: o.Logger}}
	for i := range o.Receivers {
		r := &o.Receivers[i]
		n.all = append(n.all, &sender{receiver: r, queue: make(chan Message, mostQueued), condition: condition{logger: o.Logger}})
	}
	return n
}

// Trouble returns a sentence about receivers that did not take messages, and about the file; "": all is well, or n is
// nil. It is safe for concurrent use.
func (n *Notifier) Trouble() string {
	if n == nil {
		return ""
	}
	list := []string{n.file.trouble()}
	for _, s := range n.all {
		list = append(list, s.trouble())
	}
	return strings.Join(slices.DeleteFunc(list, func(text string) bool { return text == "" }), "; ")
}

// Run sends messages about findings until ctx ends. The next run sends those that were not delivered by then.
func (n *Notifier) Run(ctx context.Context) error {
	var sending sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, s := range n.all {
		spawn.Go(ctx, &sending, func() { s.run(ctx) })
	}
	began := false
	for backoff.Sleep(ctx, every) == nil {
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
				m.payload = n.o.Payload(&m)
				s.take(m)
			}
		}
		n.save(ctx)
	}
	sending.Wait()
	if began {
		n.save(ctx)
	}
	return ctx.Err()
}

// restore takes what an earlier run told.
func (n *Notifier) restore(ctx context.Context) {
	m, err := readMemory(ctx, n.o.Path)
	n.file.note(err, 0)
	n.rules = map[string][]*cause{}
	maps.Copy(n.rules, m.Rules)
	for _, s := range n.all {
		s.tracker = NewTracker(s.receiver.Rule)
		s.tracker.restore(m.Rules[s.receiver.Key])
	}
	n.saved = n.snapshot()
}

// snapshot returns what the file shall have.
func (n *Notifier) snapshot() []byte {
	for _, s := range n.all {
		n.rules[s.receiver.Key] = s.tracker.snapshot()
	}
	data, _ := json.Marshal(memory{1, n.rules}) // of plain values
	return data
}

// save writes what was told, if that has changed.
func (n *Notifier) save(ctx context.Context) {
	data := n.snapshot()
	if n.o.Path == "" || bytes.Equal(data, n.saved) {
		return
	}
	err := errStuck
	select {
	case n.writing <- struct{}{}: // else the last write has not returned yet
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
		defer cancel()
		_, err = spawn.Within(limit, 0, func() (struct{}, error) {
			defer func() { <-n.writing }()
			return struct{}{}, writeMemory(n.o.Path, data)
		})
	default:
	}
	if err == nil {
		n.saved = data // else it is tried again
	}
	n.file.note(err, 0)
}

// writeLimit bounds the wait for a disk: neither the messages nor the end of the program wait longer.
const writeLimit = time.Second

var (
	errStuck = errors.New("writing what was notified: the disk does not answer")
	errFull  = errors.New("too many messages wait for it")
)

// mostQueued bounds the messages that wait for a receiver.
const mostQueued = 32

// attempts bounds the tries to send a message to a receiver that fails.
const attempts = 5

// timeout is the time in which a receiver must take a message.
const timeout = 10 * time.Second

// pauses are those between two attempts.
var pauses = backoff.Policy{Min: 2 * time.Second, Max: time.Minute}

// sender sends the messages of a rule, one after the other.
type sender struct {
	receiver *Receiver
	tracker  *Tracker // only Run uses it; nil before it records
	queue    chan Message
	condition
}

// take queues a message. It does not block: where there is no room the message is lost.
func (s *sender) take(m Message) {
	select {
	case s.queue <- m:
	default:
		m.settled()
		s.failed(errFull, 1)
	}
}

// run sends until ctx ends.
func (s *sender) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-s.queue:
			if !s.send(ctx, m.payload) {
				return
			}
			m.settled()
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
		switch {
		case err == nil:
			s.note(nil, 0)
			return true
		case ctx.Err() != nil:
			return false
		}
		s.failed(err, (i+1)/attempts) // the last one loses it
	}
	return true
}

// failed notes why a message was not delivered, and how many were given up.
func (s *sender) failed(err error, lost int) {
	s.note(fmt.Errorf("%s: %w", s.receiver.Name, err), lost)
}

// condition is whether a receiver, or the file, works. It is safe for concurrent use.
type condition struct {
	logger *slog.Logger

	mu    sync.Mutex
	wrong string // why the last attempt failed; "": it did not
	lost  int    // messages that were given up since the last that was delivered
}

// note notes why an attempt failed, and how many messages were given up; nil: it did not fail.
func (c *condition) note(err error, lost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.wrong, c.lost = "", 0
		return
	}
	if text := err.Error(); text != c.wrong || lost > 0 {
		c.logger.Warn("notifying", "err", text, "given up", lost > 0)
		c.wrong = text
	}
	c.lost += lost
}

// trouble returns what is wrong; "": nothing.
func (c *condition) trouble() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.wrong == "":
		return ""
	case c.lost == 0:
		return c.wrong + "; trying again"
	case c.lost == 1:
		return c.wrong + "; 1 message was not delivered"
	}
	return fmt.Sprintf("%s; %d messages were not delivered", c.wrong, c.lost)
}
