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

// The modes. Shared exists only if Caps.Shared is set.
const (
	Exclusive Mode = iota
	Shared
)

// String returns "exclusive" or "shared".
func (m Mode) String() string { return [...]string{"exclusive", "shared"}[m] }

// Forever is the Claim.Wait that ends only with the grant or the context.
const Forever time.Duration = -1

// Driver is one backend. Its methods are safe for concurrent use. Every request of a
// driver, its session or a grant returns soon after its context ends, however the
// service behaves: Close and Abandon of the core wait for requests under way.
type Driver interface {
	// Name returns the backend's short name: "redis", "postgres". It appears in errors.
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
	// Info does not block and may be called at any time, even after Done.
	Info() SessionInfo
	// Acquire claims one primitive and blocks for at most c.Wait. ok is false when the try missed or c.Wait ran out; In
	// that case, and after an error, nothing of the claim is left behind at the service if that can be reached. If that
	// is not sure, Acquire returns an error that wraps ErrUncertain, never a miss. When ctx ends, its error is joined
	// to the result, and a grant that raced the cancel has been released. The driver need not repeat a claim after an
	// error that may pass (see Passing), because the core does; such an error must wrap no sentinel that is final.
	Acquire(ctx context.Context, c Claim) (g Grant, ok bool, err error)
	// Done is closed when all grants are over. If Caps.OneFate is false, only Close and Abandon close it.
	Done() <-chan struct{}
	// Err returns the reason after Done: it wraps ErrExpired, ErrLost or ErrClosed. It returns nil before.
	Err() error
	// Close releases the grants, newest first, notifies the service that the session is over, and joins every
	// goroutine. ctx bounds the requests, not the joining. The error wraps ErrUncertain if a claim that was reported as
	// not granted may still be granted at the service, now or later. A second call, and a call after Abandon, does
	// nothing.
	Close(ctx context.Context) error
	// Abandon joins every goroutine and sends the service nothing: grants expire by themselves. It does not wait for
	// the network.
	Abandon()
}

// ForceReleaser is implemented by a Driver that can end the ownership of others.
type ForceReleaser interface {
	// ForceRelease ends the ownership or wait that f names, if it has not changed. The service compares and acts in one
	// step, unless the driver's documentation says otherwise. ForceRelease may connect first. It returns nil if the
	// service has done it. An error wraps ErrChanged, ErrRefused, ErrUnsupported or ErrInvalid if surely no ownership
	// and no wait was ended, and ErrUncertain if one may have been; after any other error nothing was sent.
	ForceRelease(ctx context.Context, f Foreign) error
}

// Foreign is an ownership or a place in a queue of another client, as a source has shown it.
type Foreign struct {
	Kind    Kind
	Name    string
	Owner   string // its ID
	Fence   uint64 // 0: none, which is compared like any other value
	Mode    Mode
	Permits uint64 // 0: 1
	Guard   string // from the source of the same backend, which defines its form; never ""
	Waiting bool   // the client waits, and owns nothing
}

// Grant is the service's answer to one claim. The core releases or abandons it, or closes the session. It never calls
// Release during a renewal of the grant, but may call Publish then. It may call Info at any time, even after the end.
type Grant interface {
	// Info does not block. It returns the window and the fence of the last answer.
	Info() GrantInfo
	// Done is closed once: when this grant alone, or its session, is over.
	Done() <-chan struct{}
	// Err returns the reason after Done: it wraps ErrExpired, ErrLost, ErrReleased or ErrClosed. It returns nil before.
	Err() error
	// Release releases the grant at the service. It is no error if the grant was not ours any more. A second call does
	// nothing.
	Release(ctx context.Context) error
	// Abandon forgets the grant without notifying the service. It does not block.
	Abandon()
}

// Renewer is implemented by the DriverSession (its window covers every grant) or
// by every Grant (each has its own), never by both.
type Renewer interface {
	// Renew asks the service to confirm us. An error that wraps ErrLost is final; after any other error the core calls
	// Renew again until the window ends. The core never calls it concurrently on one Renewer.
	Renew(ctx context.Context) (Window, error)
}

// Publisher is implemented by a Grant that can change its data while it is owned.
type Publisher interface {
	// Publish replaces the data, for this grant only: after a loss nothing is
	// written and the error wraps ErrLost.
	Publish(ctx context.Context, data []byte) error
}

// Describer is implemented by a DriverSession that can read a primitive.
type Describer interface {
	// Describe reads one primitive now. If primitives exist by themselves and this one does not, it returns
	// ErrNotFound. If they do not (a Redis key, an advisory lock), it returns a Description without owners.
	Describe(ctx context.Context, kind Kind, name string) (Description, error)
}

// Watcher is implemented by a DriverSession that can follow a primitive.
type Watcher interface {
	// Watch yields the present state, then each later state that differs. It renews its watch and reconnects with
	// back-off. An error is yielded once and ends the sequence. The sequence ends without an error when ctx or the
	// session ends.
	Watch(ctx context.Context, kind Kind, name string) iter.Seq2[Description, error]
}

// Queuer is implemented by a DriverSession whose service keeps a queue in which a client can take a place now and wait
// later.
type Queuer interface {
	// Enqueue takes the place. If the claim is granted at once, the Wait of its Place returns at once.
	Enqueue(ctx context.Context, c Claim) (Place, error)
}

// Place is a place in a queue. The caller must call Wait until it returns a grant, or Leave.
type Place interface {
	// Wait blocks until the place is granted. If the claim's Wait runs out, ok is false and the place is gone. If ctx
	// ends, the place is kept.
	Wait(ctx context.Context) (g Grant, ok bool, err error)
	// Leave gives the place up; a grant that raced the call is released.
	Leave(ctx context.Context) error
}

// Provisioner is implemented by a DriverSession whose primitives have an existence of their own. Its methods are safe
// for concurrent use. Each is one request and blocks until the service has answered, ctx ends or the session does; if a
// right is missing, it returns ErrRefused. After an error that wraps none of our sentinels, the service may have
// executed the request.
type Provisioner interface {
	// Create makes a semaphore of limit permits, with data of its own. If it exists already, Create returns ErrRefused
	// and changes nothing.
	Create(ctx context.Context, name string, limit uint64, data []byte) error
	// Update replaces the data and leaves owners and waiters alone. It returns ErrNotFound if the semaphore does not
	// exist.
	Update(ctx context.Context, name string, data []byte) error
	// Delete removes the semaphore; owners lose their permits and waiters their places. Without force it returns
	// ErrRefused while there is an owner or waiter. It returns ErrNotFound if the semaphore does not exist.
	Delete(ctx context.Context, name string, force bool) error
}

// Caps are the abilities of a server.
type Caps struct {
	Mutex, Semaphore, Election bool
	Shared                     bool // Mode Shared
	Ephemeral                  bool // primitives that vanish with their last owner
	OneFate                    bool // the session is renewed, and all its grants end with it
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

// Check returns ErrUnsupported or ErrDataTooLong for a claim that a server with these Caps cannot serve.
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

// CheckData returns ErrDataTooLong for data that is longer than MaxData.
func (caps Caps) CheckData(data []byte) error {
	if len(data) > caps.MaxData {
		return fmt.Errorf("%w: %d bytes, this backend carries %d", ErrDataTooLong, len(data), caps.MaxData)
	}
	return nil
}

// SessionInfo describes a DriverSession.
type SessionInfo struct {
	ID   string // "" if the service knows no sessions
	Caps Caps
}

// GrantInfo describes a Grant.
type GrantInfo struct {
	Owner string // our identity, the same text as a source shows; "" until known
	Fence uint64 // 0: none
	Window
}

// Window is a stretch of time in which the service surely counts us as the owner.
type Window struct {
	Asked   time.Time     // when the request was sent whose answer proves that we own it now; from time.Now, with its monotonic reading
	Valid   time.Duration // how long, from Asked, the service surely counts us as the owner; our margin is not subtracted
	RenewIn time.Duration // renew at the latest this long after Asked; 0: Valid/3
}

// Claim describes a primitive, or permits of one, that a session asks for.
type Claim struct {
	Kind      Kind
	Name      string
	Mode      Mode
	Permits   uint64        // 0: 1
	Limit     uint64        // of the semaphore, for services that receive it with every claim; else 0
	Ephemeral bool          // only if Caps.Ephemeral
	Data      []byte        // at most Caps.MaxData, else ErrDataTooLong before anything is sent
	TTL       time.Duration // 0: the session's
	Wait      time.Duration // 0: try once; Forever; else how long to queue
	// Waiting, if not nil, is called each time the claim begins to wait as it should: when it enters the queue, or
	// after a try that missed and will be repeated. It does not block, and may be called from any goroutine.
	Waiting func()
	// Place, if not nil, is called after Waiting if the service reports a place in the queue when it queues the claim.
	// atMost is that place or a later one, counted from 1. Place does not block, and may be called from any goroutine.
	Place func(atMost int)
}

// Description is the state of one primitive as its service reports it.
type Description struct {
	Kind         Kind
	Name         string
	Limit, Taken uint64 // 0: not reported
	Ephemeral    bool
	Data         []byte // of the primitive itself, if it has data of its own
	Owners       []Owner
	Waiters      []Owner // in the service's order
	WaitersKnown bool    // false: the service keeps or reports no queue
	Absent       bool    // the primitive does not exist; only Watch sets it, Describe returns ErrNotFound instead
}

// Owner is one owner or waiter in a Description.
type Owner struct {
	ID      string // as GrantInfo.Owner
	Mode    Mode
	Permits uint64
	Fence   uint64 // 0: none
	Data    []byte
}

// Call is the kind of a request that a driver sends. A driver's method Wire writes the request for a Claim in one line,
// for a person to read before it is sent.
type Call uint8

// The calls.
const (
	CallAcquire Call = iota + 1 // acquire the Claim
	CallPublish                 // write its Data beside our ownership
	CallRelease                 // release its Name in its Mode
	CallCreate                  // create Name with Limit and Data
	CallUpdate                  // write its Data into Name itself
	CallDelete                  // delete Name
)

// Quoted returns data as the line of a Call shows it. It shortens long data to its beginning.
func Quoted(data []byte) string {
	const most = 300
	if len(data) > most {
		return strconv.Quote(string(data[:most]) + "...")
	}
	return strconv.Quote(string(data))
}
