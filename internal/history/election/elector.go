package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
)

// Options describe a store and this recorder.
type Options struct {
	Direct   string                                // address of the server, without a pooler in between
	Password func(context.Context) (string, error) // nil: it is in Direct, or in a file of libpq
	Schema   string                                // of the store; each has an election of its own
	Name     string                                // of this recorder, as others see it: host and process
	Lease    time.Duration                         // of a run, after its last write; 0: history.Lease
	Logger   *slog.Logger                          // nil: nothing is logged
}

const (
	lookEvery = time.Second
	beginning = 30 * time.Second // the most that a recorder may take from the lock to its first write
	deference = 4 * time.Second  // after the end of the session of a recorder that stands by, and after the server was away
	retry     = 10 * time.Second // after a refusal
	answer    = 5 * time.Second  // bounds a statement
)

// Elector stands for election until its Run ends. Its other methods are safe for concurrent use.
type Elector struct {
	o Options

	candidate atomic.Pointer[coord.Candidate] // nil: none stands
	refusal   trouble                         // why it cannot stand
	silence   trouble                         // why it sees nothing
	present   atomic.Pointer[Present]         // as it was seen last; nil: not yet
	byLease   atomic.Bool                     // the lease has expired, and the lock cannot be freed
	run       atomic.Int64                    // that this process writes; 0: none
	refused   atomic.Int64                    // Inputs that the store has refused since they were counted there
	wake      chan struct{}
	standing  sync.Mutex // of one campaign at a time
}

// New returns an Elector, which does nothing before Run. Its error is about the address.
func New(o Options) (*Elector, error) {
	if _, _, err := pgwire.Parse(o.Direct); err != nil {
		return nil, fmt.Errorf("history.direct: %w", err)
	}
	o.Lease = cmp.Or(o.Lease, history.Lease)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Elector{o: o, wake: make(chan struct{}, 1)}, nil
}

// lockName is the name of the election of a schema.
func lockName(schema string) string { return "coordtop recorder of " + schema }

// Run stands for election until ctx ends, and then resigns. It returns no errors of the server; Trouble reports them.
func (e *Elector) Run(ctx context.Context) error {
	w := &watcher{Elector: e}
	w.watch(ctx)
	w.campaigns.Wait()
	return nil
}

// campaign stands for election until ctx ends. After a refusal it tries again, because a right may have been granted.
func (e *Elector) campaign(ctx context.Context) {
	e.standing.Lock()
	defer e.standing.Unlock()
	for ctx.Err() == nil {
		password, err := e.o.password(ctx)
		if err == nil {
			err = e.stand(ctx, password)
		}
		if ctx.Err() != nil {
			return
		}
		switch {
		case !errors.Is(err, errSessionEnded):
			e.refusal.set(e.o.Logger, err)
			_ = backoff.Sleep(ctx, retry) // the loop checks ctx
		case e.run.Load() == 0: // the server may be away, which watch has not noticed yet
			_ = backoff.Sleep(ctx, deference)
		}
	}
}

func (o Options) password(ctx context.Context) (string, error) {
	if o.Password == nil {
		return "", nil
	}
	return o.Password(ctx)
}

// errSessionEnded reports that the session of a candidate has ended, for example because the server restarts.
var errSessionEnded = errors.New("the session has ended")

// stand campaigns with a password, until ctx or its session ends, or the server refuses.
func (e *Elector) stand(ctx context.Context, password string) error {
	d, err := pgcoord.New(e.o.Direct, pgcoord.Options{Override: pgcoord.Override{Password: password}})
	if err != nil {
		return err
	}
	standing, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := coord.NewCandidate(d, coord.SessionOptions{Description: e.o.Name, Log: e.o.Logger, Retry: coord.Backoff{Max: 2 * time.Second}, OnState: func(s coord.StateChange) {
		if s.State == coord.StateEnded && !errors.Is(s.Err, coord.ErrRefused) {
			end(errSessionEnded)
		}
	}}, lockName(e.o.Schema), coord.LeadOptions{
		OnElected: func(context.Context, *coord.Term) error {
			e.refusal.set(e.o.Logger, nil)
			spawn.Wake(e.wake)
			return nil
		},
	})
	e.candidate.Store(c)
	err = c.Run(standing)
	e.candidate.Store(nil)
	if cause := context.Cause(standing); cause != nil {
		err = cause
	}
	if err := d.Close(context.WithoutCancel(ctx)); err != nil {
		e.o.Logger.Warn("election of the recorder", "err", err)
	}
	return err
}

// trouble is the reason why something does not work; nil: it works.
type trouble struct{ atomic.Pointer[error] }

// set keeps err as the reason, and logs it if it is another one than before. A nil err means that all works again.
func (t *trouble) set(log *slog.Logger, err error) {
	if was := t.get(); err != nil && (was == nil || was.Error() != err.Error()) {
		log.Warn("election of the recorder", "err", err)
	}
	t.Store(&err)
}

func (t *trouble) get() error {
	if err := t.Load(); err != nil {
		return *err
	}
	return nil
}

// Trouble returns the reason why this process cannot stand for election; nil: it can.
func (e *Elector) Trouble() error { return cmp.Or(e.refusal.get(), e.silence.get()) }

// Present returns the present run and the queue as they were seen last; nil: they were not seen yet.
func (e *Elector) Present() *Present { return e.present.Load() }

// Lock returns the process of the server whose session owns the lock for us; 0: we do not own it.
func (e *Elector) Lock() uint32 {
	c := e.candidate.Load()
	if c == nil {
		return 0
	}
	term, ok := c.Leading()
	if !ok {
		return 0
	}
	pid, _, _ := strings.Cut(term.Lease().Owner(), "@")
	n, _ := strconv.ParseUint(pid, 10, 32) // an owner that is not known yet is no leader
	return uint32(n)
}

// Await returns when this process may ask for a run: it owns the lock, or the lease has expired and the lock cannot be
// freed. Otherwise it returns the error of ctx.
func (e *Elector) Await(ctx context.Context) error {
	for e.Lock() == 0 && !e.byLease.Load() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.wake:
		}
	}
	return nil
}

// Resign lets others lead, for example because this process cannot write to the store. It goes on standing.
func (e *Elector) Resign(ctx context.Context) {
	e.byLease.Store(false)
	if c := e.candidate.Load(); c != nil {
		if term, ok := c.Leading(); ok {
			if err := term.Resign(ctx); err != nil {
				e.o.Logger.Warn("election of the recorder", "err", err)
			}
		}
	}
}

// Records keeps the number of the run that this process writes; 0: it writes none.
func (e *Elector) Records(run int64) {
	e.run.Store(run)
	e.byLease.Store(false)
}

// Refused counts Inputs that the store has refused, in the row of the run that this process wrote last.
func (e *Elector) Refused(n int) { e.refused.Add(int64(n)) }
