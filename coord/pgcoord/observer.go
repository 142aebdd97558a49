package pgcoord

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/pgwire"
	"coordtop/internal/spawn"
)

const watchName = "coordtop-watch" // how connections that only read name themselves

// observer is the driver's connection for reading and notifying. It listens to the
// announcements, and is made anew when it is needed after it broke.
type observer struct {
	driver *Driver
	life   context.Context // ends with close
	quit   context.CancelFunc
	turn   chan struct{} // holds one element while somebody connects

	mu         sync.Mutex
	connection *connection
	all        connections           // that one and replaced ones, which close joins
	watchers   map[chan struct{}]Key // woken by announcements about the key, and when the connection ends
}

func newObserver(d *Driver) *observer {
	k := &observer{driver: d, turn: make(chan struct{}, 1), all: connections{}, watchers: map[chan struct{}]Key{}}
	k.life, k.quit = context.WithCancel(context.Background())
	return k
}

// use runs f on the observer's connection. If ctx ends while f runs, f runs on: others use the
// connection too, and an answer that takes too long ends it for all.
func (k *observer) use(ctx context.Context, f func(context.Context, *pgwire.Conn) error) error {
	l, err := k.get(ctx)
	if err != nil {
		return err
	}
	return notOurLoss(l.submit(readTime, f).wait(ctx))
}

// read is use for an f that may run twice: if the connection breaks under it, it is run
// once more on a new one.
func (k *observer) read(ctx context.Context, f func(context.Context, *pgwire.Conn) error) error {
	l, err := k.get(ctx)
	if err != nil {
		return err
	}
	err = l.submit(readTime, f).wait(ctx)
	if err == nil || ctx.Err() != nil || l.alive() {
		return err
	}
	return k.use(ctx, f)
}

// query runs one statement that may run twice.
func (k *observer) query(ctx context.Context, sql string, args ...string) (rows []row, err error) {
	err = k.read(ctx, func(ctx context.Context, conn *pgwire.Conn) (err error) {
		rows, err = query(ctx, conn, sql, args...)
		return err
	})
	return rows, err
}

// get returns the connection; it makes one if there is none that works.
func (k *observer) get(ctx context.Context) (l *connection, err error) {
	defer func() {
		if err != nil && k.life.Err() != nil {
			err = errClosed
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer spawn.OnDone(k.life, cancel)()
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the connection: %w", ctx.Err())
	}
	k.mu.Lock()
	l = k.connection
	k.mu.Unlock()
	if l != nil && l.alive() {
		return l, nil
	}
	if err := k.life.Err(); err != nil {
		return nil, err
	}
	return k.open(ctx)
}

// open makes the connection, which from then on belongs to the observer.
func (k *observer) open(ctx context.Context) (*connection, error) {
	l, err := k.driver.newPrepared(ctx, k.driver.options.TTL, watchName, k.receive)
	if err != nil {
		return nil, err
	}
	if err := l.do(ctx, startReading); err != nil {
		l.cut(errClosed)
		<-l.done
		return nil, notOurLoss(err)
	}
	k.mu.Lock()
	k.all.add(l)
	k.connection = l
	k.mu.Unlock()
	l.whenEnded(func(error) { k.wake(Key{}) })
	return l, nil
}

// startReading makes a connection read-only and has it listen to announcements.
func startReading(ctx context.Context, conn *pgwire.Conn) error {
	if err := conn.ReadOnly(ctx, watchName); err != nil {
		return classify(err)
	}
	return listenTo(ctx, conn, Channel)
}

// receive is called on the goroutine of the connection.
func (k *observer) receive(n *pgconn.Notification) {
	a, ok := ReadAnnouncement(n)
	if !ok {
		return
	}
	if key, named, err := ParseKey(a.Key); err == nil && !named {
		k.wake(key)
	}
}

// wake wakes those who watch a key; the zero Key: all.
func (k *observer) wake(key Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for w, watched := range k.watchers {
		if key != (Key{}) && key != watched {
			continue
		}
		spawn.Wake(w)
	}
}

// watch returns a channel that holds an element after something was announced about key,
// and what ends that.
func (k *observer) watch(key Key) (woken chan struct{}, stop func()) {
	woken = make(chan struct{}, 1)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.watchers[woken] = key
	return woken, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.watchers, woken)
	}
}

// close ends the connection and waits for that.
func (k *observer) close(ctx context.Context) {
	k.quit()
	k.turn <- struct{}{} // nobody connects any more
	defer func() { <-k.turn }()
	k.mu.Lock()
	all := k.all
	k.connection, k.all = nil, connections{}
	k.mu.Unlock()
	for l := range all {
		l.close(ctx)
	}
}
