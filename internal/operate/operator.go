package operate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/ground/suspend"
	"coordtop/sources"
)

// View is the part of the Hub that an Operator uses. None of its methods waits for a source.
type View interface {
	State() *sources.State
	Row(s *sources.State, ref sources.Ref) *sources.Row
	Subscribe(from uint64) *sources.Subscription
	Refresh(source string)
	AddEvent(e sources.Event)
	Expect(e sources.Ending, within time.Duration)
}

// Options are the options of an Operator. All fields except View may be zero.
type Options struct {
	View     View
	Backends map[string]Backend // by the name of their source
	Audit    *AuditLog          // nil: no action can be started
	Always   bool               // armed from the start and without an end
	Now      func() time.Time   // nil: time.Now
	Patience time.Duration      // how long our watch may take to show an action before it is Unseen; 0: 10 s
	// Slept returns how long the machine has been suspended since a fixed instant. Nil: suspend.Slept.
	Slept func() time.Duration
}

const (
	openWithin   = 10 * time.Second // to find secrets and connect
	replyIn      = 5 * time.Second  // for the answer to one request about a lease of ours
	farewell     = 2 * time.Second  // to resign
	settleWithin = 10 * time.Second // to find out whether a claim that ended without a lease left something at the service
	cleanWithin  = 30 * time.Second // to remove everything of ours at the service, while nobody waits for that
	keepRuns     = 5 * time.Minute  // after their end
	mostRuns     = 200
)

// Operator executes actions. Its methods are safe for concurrent use. Start, Arm and Disarm wait for the disk, and
// Close waits for servers; the others return at once. The caller must call Close.
type Operator struct {
	options Options
	drivers drivers
	view    view
	status  atomic.Pointer[action.Status]
	wake    chan struct{}

	life    context.Context // ends when Close begins
	end     context.CancelFunc
	bye     context.Context // bounds Close; set before life ends
	running sync.WaitGroup  // runs, watches, the publisher, calls of Start, Arm and Disarm
	ended   chan struct{}   // closed when the first Close is done
	err     error           // of the first Close; read after ended

	starting sync.Mutex // held during Start, which waits for the disk; taken before mu
	mu       sync.Mutex // never held while anything is waited for
	closed   bool
	runOut   bool
	writing  writing
	last     uint64 // number of the newest run
	runs     []*run
	held     []*holding
	left     []error // errors about leases that Close could not give back

	unwritten []string // lines that could not be written to the audit
}

// New makes an Operator and starts the goroutine that updates the times in Status; Close ends it. ctx only supplies the
// handler of panics, see spawn.With; the Operator keeps running after the end of ctx.
func New(ctx context.Context, o Options) *Operator {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Slept == nil {
		o.Slept = suspend.Slept
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	op := &Operator{
		options: o,
		view:    view{o.View},
		writing: writing{now: o.Now, slept: o.Slept, always: o.Always, unlocked: map[string]arming{}},
		drivers: drivers{backends: o.Backends, spots: map[[2]string]*spot{}},
		wake:    make(chan struct{}, 1), ended: make(chan struct{}),
	}
	op.life, op.end = context.WithCancel(context.WithoutCancel(ctx))
	op.mu.Lock()
	op.publishLocked()
	op.mu.Unlock()
	op.start(op.refresh)
	return op
}

// start starts a goroutine that Close joins.
func (o *Operator) start(body func()) { spawn.Go(o.life, &o.running, body) }

// Audit returns the log of actions. If it is nil, no action can be started.
func (o *Operator) Audit() *AuditLog { return o.options.Audit }

// Status returns the latest snapshot, never nil.
func (o *Operator) Status() *action.Status { return o.status.Load() }

// Wake returns a channel that receives when there is a new Status. Wake-ups are merged.
func (o *Operator) Wake() <-chan struct{} { return o.wake }

// LetRunOut makes Close abandon the leases that end by their TTL, instead of resigning them.
func (o *Operator) LetRunOut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runOut = true
}

// Close calls off all actions, gives back what we hold (see LetRunOut) and returns when no goroutine is left, within
// two seconds. The error names the leases that could not be given back, which expire by themselves. A second call waits
// for the first and returns its error.
func (o *Operator) Close() error {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		<-o.ended
		return o.err
	}
	o.closed = true
	bye, cancel := context.WithTimeout(context.WithoutCancel(o.life), farewell)
	defer cancel()
	o.bye = bye
	o.mu.Unlock()
	o.end()
	o.running.Wait()
	o.mu.Lock()
	o.publishLocked()
	left := o.left
	o.mu.Unlock()
	o.err = errors.Join(append(left, o.drivers.close(bye))...)
	close(o.ended)
	return o.err
}

// refresh publishes a new Status each second while we hold something, because renewals move the end of trust without a
// notice. When the arming ends, even during a suspend of the machine, refresh calls off unfinished actions.
func (o *Operator) refresh() {
	next := time.NewTimer(time.Second)
	defer next.Stop()
	for {
		select {
		case <-o.life.Done():
			return
		case <-next.C:
			o.mu.Lock()
			o.callOffUnarmedLocked(errOver)
			if o.forgetLocked() || len(o.held) > 0 || !o.writing.until().Equal(o.Status().Armed) {
				o.placesLocked()
				o.publishLocked()
			}
			next.Reset(o.writing.next())
			o.mu.Unlock()
		}
	}
}

// placesLocked updates the places of our waiting runs in their queues.
func (o *Operator) placesLocked() {
	for _, h := range o.held {
		h.run.Place, h.run.AtMost = 0, false
		if h.waiting {
			row, _ := o.view.row(h.ref)
			h.run.Place, h.run.AtMost = h.placeLocked(row, h.label)
		}
	}
}

// forgetLocked drops runs that ended long ago, and reports whether it dropped any.
func (o *Operator) forgetLocked() bool {
	before, now := len(o.runs), o.options.Now()
	o.runs = slices.DeleteFunc(o.runs, func(r *run) bool {
		return r.Phase.Over() && now.Sub(r.Changed) > keepRuns
	})
	if extra := len(o.runs) - mostRuns; extra > 0 {
		o.runs = slices.DeleteFunc(o.runs, func(r *run) bool {
			extra--
			return extra >= 0 && r.Phase.Over()
		})
	}
	return len(o.runs) != before
}

// publishLocked makes the next Status and wakes its reader.
func (o *Operator) publishLocked() {
	s := &action.Status{Armed: o.writing.until(), Always: o.writing.always}
	if o.options.Audit != nil {
		s.Audit = o.options.Audit.file.path
	}
	for _, h := range o.held {
		s.Holdings = append(s.Holdings, h.show())
	}
	for _, r := range o.runs {
		s.Runs = append(s.Runs, r.Run)
	}
	o.status.Store(s)
	spawn.Wake(o.wake)
}

// row returns the row of ref in the latest state, or nil, and that state.
func (v view) row(ref sources.Ref) (*sources.Row, *sources.State) {
	s := v.State()
	return v.Row(s, ref), s
}

// oursLocked returns our holding of ref in the form for people; nil if we have none.
func (o *Operator) oursLocked(ref sources.Ref) *action.Holding {
	h := o.holdingLocked(ref)
	if h == nil {
		return nil
	}
	show := h.show()
	return &show
}

// holdingLocked returns our holding of ref; nil if we neither have it nor wait for it.
func (o *Operator) holdingLocked(ref sources.Ref) *holding {
	for _, h := range o.held {
		if h.ref == ref && !h.over {
			return h
		}
	}
	return nil
}
