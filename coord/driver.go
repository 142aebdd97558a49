package coord

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"
)

// Kind is the kind of a primitive. It decides the form of the
// key and the verb on the wire.
type Kind uint8

// The kinds. KindNone is the zero value and never valid in a Claim.
const (
	KindNone Kind = iota
	KindElection
	KindMutex
	KindSemaphore
)

var kindWords = [...]string{"unknown", "election", "mutex", "semaphore"}

// String returns the word that people read: "election", "mutex", "semaphore", or "unknown" for KindNone.
func (k Kind) String() string { return kindWords[k] }

// KindNamed returns the kind whose String is name, or KindNone.
func KindNamed(name string) Kind { return Kind(max(slices.Index(kindWords[:], name), 0)) }

// Mode decides whether a claim shares its primitive with others.
type Mode uint8

// The modes. Shared exists where Caps.Shared says so.
const (
	Exclusive Mode = iota
	Shared
)

// String returns "exclusive" or "shared".
func (m Mode) String() string { return [...]string{"exclusive", "shared"}[m] }

// Forever as Claim.Wait means: until granted, or until the context ends.
const Forever time.Duration = -1

// Driver is one backend. Its methods are safe for concurrent use. Every request of a
// driver, its session or a grant returns soon after its context ends, however the
// service behaves: Close and Abandon of the core wait for requests under way.
type Driver interface {
	// Name is the backend's short name: "redis", "postgres". It appears in errors.
	Name() string
	// Open makes a session. ctx bounds the opening only and must not be kept.
	// An error that wraps ErrRefused is final; any other may pass.
	Open(ctx context.Context, o SessionOptions) (DriverSession, error)
	// Close frees the resources that the driver's sessions share. Call it after the last session
	// is closed or abandoned. A second call does nothing.
	Close(ctx context.Context) error
}

// DriverSession is a client's presence on a backend. Its methods are safe for
// concurrent use.
type DriverSession interface {
	// Info is cheap and may be called at any time, also after Done.
	Info() SessionInfo
	// Acquire claims one primitive and blocks for at most c.Wait. ok is false when
	// the try missed or c.Wait ran out; then, and when an error is returned, nothing
	// of us is left behind where the service can be reached. Where that is not sure, the
	// error wraps ErrUncertain: it is never a miss. When ctx ends, its error
	// is joined to the result, and a grant that raced the cancel has been released.
	// An error that may pass (see Passing) need not be outlived here: the core claims
	// again. So it wraps no sentinel that says otherwise.
	Acquire(ctx context.Context, c Claim) (g Grant, ok bool, err error)
	// Done is closed when all grants are over. Where Caps.OneFate is false only
	// Close and Abandon close it.
	Done() <-chan struct{}
	// Err returns the reason after Done: it wraps ErrExpired, ErrLost or ErrClosed. Nil before.
	Err() error
	// Close releases the grants, newest first, notifies the service that the session is
	// over, and joins every goroutine. ctx bounds the requests, not the joining. The error
	// wraps ErrUncertain where a claim that was not granted may be ours at
	// the service all the same, now or later. A second call, and a call after Abandon, does
	// nothing.
	Close(ctx context.Context) error
	// Abandon joins every goroutine and sends the service nothing: grants expire by
	// themselves. It does not block on the network.
	Abandon()
}

// ForceReleaser is implemented by a Driver that can end the ownership of others.
type ForceReleaser interface {
	// ForceRelease ends one ownership, or one wait, if it still is exactly the one that f
	// names: the service compares and acts in one step, unless the driver's own
	// documentation says otherwise. It may connect first. Nil: the service has done it.
	// An error wraps ErrChanged, ErrRefused, ErrUnsupported or ErrInvalid if surely no
	// ownership and no wait was ended, and ErrUncertain if one may have been; any other error came
	// before anything was sent.
	ForceRelease(ctx context.Context, f Foreign) error
}

// Foreign is an ownership of somebody else, or a place in a queue, as a source has shown it.
type Foreign struct {
	Kind    Kind
	Name    string
	Owner   string // its ID
	Fence   uint64 // 0: it has none, which is compared like any other
	Mode    Mode
	Permits uint64 // 0: 1
	Guard   string // of the source of the same backend, which defines its form; never ""
	Waiting bool   // it waits, and owns nothing
}

// Grant is the service's answer to one claim. The core releases or abandons it, or
// closes the session. It never calls Release during a renewal of the grant; it may call Publish then, and Info at any
// time, also after the end.
type Grant interface {
	// Info is cheap; Window and Fence are those of the last answer.
	Info() GrantInfo
	// Done is closed once: when this grant alone, or its session, is over.
	Done() <-chan struct{}
	// Err returns the reason after Done: it wraps ErrExpired, ErrLost, ErrReleased or
	// ErrClosed. Nil before.
	Err() error
	// Release gives it back. An answer that it was not ours any more is not an error.
	// A second call does nothing.
	Release(ctx context.Context) error
	// Abandon forgets it without notifying the service. It does not block.
	Abandon()
}

// Renewer is implemented by the DriverSession (its window covers every grant) or
// by every Grant (each has its own), never by both.
type Renewer interface {
	// Renew asks the service to confirm us. An error that wraps ErrLost is final; after any
	// other error the core asks again until the window ends. The core never calls it
	// twice at a time on one Renewer.
	Renew(ctx context.Context) (Window, error)
}

// Publisher is implemented by a Grant that can change its data while it is held.
type Publisher interface {
	// Publish replaces the data, for this grant only: after a loss nothing is
	// written and the error wraps ErrLost.
	Publish(ctx context.Context, data []byte) error
}

// Describer is implemented by a DriverSession that can look a primitive up.
type Describer interface {
	// Describe reads one primitive now. A primitive that does not exist is
	// ErrNotFound where existence means something; where it does not (a Redis key, an
	// advisory lock) it is a Description without owners.
	Describe(ctx context.Context, kind Kind, name string) (Description, error)
}

// Watcher is implemented by a DriverSession that can follow a primitive.
type Watcher interface {
	// Watch yields the present state, then each later state that differs. It re-arms
	// itself and reconnects with back-off; an error is yielded once and ends the
	// sequence. It ends without an error when ctx or the session ends.
	Watch(ctx context.Context, kind Kind, name string) iter.Seq2[Description, error]
}

// Queuer is implemented by a DriverSession whose service keeps a queue in which a
// place can be taken now and waited for later.
type Queuer interface {
	// Enqueue takes the place. A claim that is granted at once has a Place whose
	// Wait returns at once.
	Enqueue(ctx context.Context, c Claim) (Place, error)
}

// Place is a place in a queue. One of Wait (until it returns a grant) or Leave
// must be called.
type Place interface {
	// Wait blocks until the grant comes, the claim's Wait runs out (ok is false and
	// the place is gone) or ctx ends (the place is kept).
	Wait(ctx context.Context) (g Grant, ok bool, err error)
	// Leave gives the place up; a grant that raced it is released.
	Leave(ctx context.Context) error
}

// Provisioner is implemented by a DriverSession whose primitives have an
// existence of their own. Its methods are safe for concurrent use. Each is one request and
// blocks until the service has answered, ctx ends or the session does; a missing right is
// ErrRefused. After an error that wraps none of our sentinels it is not known whether the
// request was obeyed.
type Provisioner interface {
	// Create makes a semaphore of limit permits, with data of its own. ErrRefused where
	// there is one already, which stays as it is.
	Create(ctx context.Context, name string, limit uint64, data []byte) error
	// Update replaces the data and leaves owners and waiters alone. ErrNotFound where
	// there is no such semaphore.
	Update(ctx context.Context, name string, data []byte) error
	// Delete removes the semaphore; owners lose their permits and waiters their places.
	// Without force it is ErrRefused while somebody owns or waits. ErrNotFound where there
	// is none.
	Delete(ctx context.Context, name string, force bool) error
}

// Caps are the abilities of a server.
type Caps struct {
	Mutex, Semaphore, Election bool
	Shared                     bool // Mode Shared
	Ephemeral                  bool // primitives that vanish with their last owner
	OneFate                    bool // the session is renewed and all its grants end with it
	Fence                      bool // grants carry a fence
	FIFO                       bool // waiters are served in order of arrival
	MaxData                    int  // bytes of data a claim may carry; 0: none
}

// CheckTTL refuses a TTL that a driver cannot keep.
func CheckTTL(ttl, shortest, longest time.Duration) error {
	if ttl < shortest || ttl > longest {
		return fmt.Errorf("%w: a TTL of %v: at least %v, at most %v", ErrInvalid, ttl, shortest, longest)
	}
	return nil
}

// Check refuses a claim that a server with these Caps cannot serve: ErrUnsupported, or ErrDataTooLong.
func (caps Caps) Check(c Claim) error {
	exists := map[Kind]bool{KindMutex: caps.Mutex, KindSemaphore: caps.Semaphore, KindElection: caps.Election}
	switch {
	case !exists[c.Kind]:
		return fmt.Errorf("a primitive of this kind: %w", ErrUnsupported)
	case c.Mode == Shared && !caps.Shared:
		return fmt.Errorf("mode shared: %w", ErrUnsupported)
	case c.Ephemeral && !caps.Ephemeral:
		return fmt.Errorf("an ephemeral primitive: %w", ErrUnsupported)
	}
	return caps.CheckData(c.Data)
}

// CheckData refuses data that is longer than MaxData: ErrDataTooLong.
func (caps Caps) CheckData(data []byte) error {
	if len(data) > caps.MaxData {
		return fmt.Errorf("%w: %d bytes, this backend carries %d", ErrDataTooLong, len(data), caps.MaxData)
	}
	return nil
}

// SessionInfo describes a DriverSession.
type SessionInfo struct {
	ID   string // "" where the service knows no sessions
	Caps Caps
}

// GrantInfo describes a Grant.
type GrantInfo struct {
	Owner string // our identity exactly as a source shows it; "" until known
	Fence uint64 // 0: none
	Window
}

// Window is a stretch of time in which the service surely counts us as the owner.
type Window struct {
	Asked   time.Time     // sending of the request whose answer proves that we own it now; of time.Now, with its monotonic reading
	Valid   time.Duration // from Asked: the service surely counts us as the owner so long; without our margin
	RenewIn time.Duration // renew at the latest this long after Asked; 0: Valid/3
}

// Claim describes a primitive, or permits of one, that a session asks for.
type Claim struct {
	Kind      Kind
	Name      string
	Mode      Mode
	Permits   uint64        // 0: 1
	Limit     uint64        // of the semaphore, for services that take it with every claim; else 0
	Ephemeral bool          // where Caps.Ephemeral
	Data      []byte        // at most Caps.MaxData, else ErrDataTooLong before anything is sent
	TTL       time.Duration // 0: the session's
	Wait      time.Duration // 0: try once; Forever; else how long to queue
	// Waiting, if not nil, is called each time the claim begins to wait as it should:
	// it stands in the queue, or a try missed and another one follows. It does not
	// block, and may be called from any goroutine.
	Waiting func()
	// Place, if not nil, is called after Waiting if the service reports, when it queues the claim,
	// its place or a later one, counted from 1. It is like Waiting otherwise.
	Place func(atMost int)
}

// Description is the state of one primitive as its service reports it.
type Description struct {
	Kind         Kind
	Name         string
	Limit, Taken uint64 // 0: not reported
	Ephemeral    bool
	Data         []byte // of the primitive, where it has data of its own
	Owners       []Owner
	Waiters      []Owner // in the service's order
	WaitersKnown bool    // false: the service keeps or reports no queue
	Absent       bool    // it does not exist; only a Watch says so, for Describe that is ErrNotFound
}

// Owner is one owner or waiter in a Description.
type Owner struct {
	ID      string // as GrantInfo.Owner
	Mode    Mode
	Permits uint64
	Fence   uint64 // 0: none
	Data    []byte
}

// Call is the kind of a request that a driver sends. A driver's method Wire describes such a request about a Claim in
// one line, which a person reads before it is sent.
type Call uint8

// The calls.
const (
	CallAcquire   Call = iota + 1 // of the Claim
	CallPublish                   // its Data, beside our ownership
	CallRelease                   // of its Name and Mode
	CallCreate                    // of Name, with its Limit and Data
	CallUpdate                    // its Data, of Name itself
	CallDelete                    // of Name
	CallMakeSpace                 // whose path is Name
)

// Quoted writes data for the line of a Call. Of long data it writes only the beginning.
func Quoted(data []byte) string {
	const most = 300
	if len(data) > most {
		return strconv.Quote(string(data[:most]) + "...")
	}
	return strconv.Quote(string(data))
}
