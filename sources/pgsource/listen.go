package pgsource

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
	"coordtop/internal/backoff"
	"coordtop/internal/spawn"
)

// ears keep what was heard on channels. They are safe for concurrent use.
type ears struct {
	channels []string
	wake     chan struct{} // capacity 1: something arrived, or listening began or ended

	mu    sync.Mutex
	open  bool
	why   error            // not open; nil: it was not tried yet
	heard map[uint32]heard // by the process that announced
}

// heard is the data that a session announced last.
type heard struct {
	key  string
	data []byte
}

// heardKept is how many sessions' data is remembered.
const heardKept = 1000

func newEars(channels []string) *ears {
	list := []string{pgcoord.Channel}
	for _, c := range channels {
		if c != pgcoord.Channel {
			list = append(list, c)
		}
	}
	return &ears{channels: list, wake: make(chan struct{}, 1), heard: map[uint32]heard{}}
}

func (e *ears) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// hear takes one notification in; joiner belongs to the connection that it came on. What it
// says is a hint, whoever sent it: the look that follows is the truth.
func (e *ears) hear(n *pgconn.Notification, joiner *pgcoord.Joiner) {
	defer e.rouse()
	if n.Channel != pgcoord.Channel {
		return
	}
	a, whole, err := joiner.Join(n.PID, n.Payload)
	if err != nil || !whole || a.Event == pgcoord.Ask {
		return // not ours, or the rest is to come, or a question to owners
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.Event == pgcoord.Released {
		delete(e.heard, n.PID)
		return
	}
	if len(e.heard) >= heardKept {
		clear(e.heard)
	}
	e.heard[n.PID] = heard{key: a.Key, data: a.Data}
}

// data is what a session announced about a lock, if its name is what that shortens to: the
// name is seen in every look, so data that it contradicts is old.
func (e *ears) data(pid uint32, key pgcoord.Key, application string) ([]byte, bool) {
	e.mu.Lock()
	h, ok := e.heard[pid]
	e.mu.Unlock()
	if !ok || h.key != key.String() {
		return nil, false
	}
	who, _, _ := pgcoord.ParseApplicationName(application)
	if pgcoord.ApplicationName(who, h.data) != application {
		return nil, false
	}
	return bytes.Clone(h.data), true
}

// listening reports whether notifications arrive, and if not, why.
func (e *ears) listening() (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open, e.why
}

func (e *ears) set(open bool, why error) {
	e.mu.Lock()
	changed := e.open != open || (e.why == nil) != (why == nil)
	e.open, e.why = open, why
	e.mu.Unlock()
	if changed {
		e.rouse()
	}
}

var listenPauses = backoff.Policy{Min: time.Second, Max: 30 * time.Second}

// listen keeps a second connection that listens, until the link ends. It returns no error:
// a source that hears nothing looks as often as ever.
func (l *link) listen() error {
	pauses := listenPauses.Start()
	for {
		began := time.Now()
		err := l.listenOnce(l.Context())
		if l.Context().Err() != nil {
			return nil
		}
		l.ears.set(false, err)
		if time.Since(began) > listenPauses.Max {
			pauses.Reset()
		}
		if pauses.Wait(l.Context()) != nil {
			return nil
		}
	}
}

// errElsewhere: one of several hosts answered, and not the one that is watched.
var errElsewhere = errors.New("another server answered")

// listenPing is how often a connection that only listens is asked whether it lives.
const listenPing = 10 * time.Second

func (l *link) listenOnce(ctx context.Context) error {
	setup, cancel := context.WithTimeoutCause(ctx, answerLimit, errSilent)
	defer cancel()
	var joiner pgcoord.Joiner
	second, err := open(setup, l.o, l.config, func(n *pgconn.Notification) { l.ears.hear(n, &joiner) })
	if err != nil {
		return err
	}
	defer second.close()
	stop := spawn.OnDone(ctx, second.socket.cut)
	defer stop()
	s, err := askServer(setup, second.conn)
	if err != nil {
		return err
	}
	if s.incarnation() != l.server.incarnation() {
		return errElsewhere
	}
	if err := settle(setup, second.conn); err != nil {
		return err
	}
	for _, c := range l.ears.channels {
		if err := second.conn.Exec(setup, "listen "+pgx.Identifier{c}.Sanitize()).Close(); err != nil {
			return because(setup, "listening", err)
		}
	}
	l.ears.set(true, nil)
	for {
		if err := second.hearOn(ctx); err != nil {
			return err
		}
	}
}

// hearOn waits for notifications for a while and then asks whether the server lives.
func (l *line) hearOn(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, listenPing)
	defer cancel()
	for wait.Err() == nil {
		if err := l.conn.WaitForNotification(wait); err != nil && (wait.Err() == nil || l.conn.IsClosed()) {
			return because(ctx, "listening", err)
		}
	}
	ping, cancel := context.WithTimeoutCause(ctx, answerLimit, errSilent)
	defer cancel()
	return because(ping, "listening", l.conn.Exec(ping, "").Close())
}
