package coord

import (
	"errors"
	"fmt"
	"strings"

	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

// Sentinels a caller branches on. They arrive wrapped in *Error, joined with a
// context's error, or as the cause of a context that ended; test with errors.Is.
var (
	// ErrLost: the service reports, or its answer implies, that we do not own the primitive any more, although our
	// window had not ended.
	ErrLost = errors.New("lost")
	// ErrExpired: our trust ran out before the service confirmed us again.
	ErrExpired = errors.New("expired")
	// ErrReleased: we gave up the lease ourselves.
	ErrReleased = errors.New("released")
	// ErrClosed: we closed or abandoned the session.
	ErrClosed = errors.New("closed")

	// ErrClaimed: this session already claims or owns that name.
	ErrClaimed = errors.New("already claimed by this session")
	// ErrRefused: the service refuses and would refuse again (wrong password, missing right, wrong type of value), so
	// that retrying is useless.
	ErrRefused = errors.New("refused")
	// ErrInvalid: the options contradict each other or the window that the service gives; they must be changed.
	ErrInvalid = errors.New("invalid options")
	// ErrNotAcquired: the Wait of the options ran out before the claim was granted.
	ErrNotAcquired = errors.New("not acquired in time")
	// ErrUnsupported: this backend has no such primitive or ability.
	ErrUnsupported = errors.New("not supported by this backend")
	// ErrChanged: the service found another state than the caller named, so no ownership or wait was ended.
	ErrChanged = errors.New("changed meanwhile")
	// ErrUncertain: a request was sent, but it is not known whether the service executed it.
	ErrUncertain = errors.New("whether it was done is not known")
	// ErrDataTooLong: the data is longer than Caps.MaxData; nothing was sent.
	ErrDataTooLong = errors.New("data too long")
	// ErrNotFound: the primitive does not exist on the service.
	ErrNotFound = errors.New("not found")
	// ErrLeaderChanged is the cause of a Leader's context after which another leader, or the same owner in a new term,
	// followed.
	ErrLeaderChanged = errors.New("leader changed")
	// ErrObservationEnded is the cause of a Leader's context when the observation that it belongs to ended; the leader
	// may still lead.
	ErrObservationEnded = errors.New("observation ended")
	// ErrStarted: Run was called on a Candidate that is already running.
	ErrStarted = errors.New("already started")
)

// Passing reports whether err may pass by itself: the service could not be reached, did not answer, or is in a state
// that ends (it loads its data, a failover is under way, all its connections are in use). Any other error needs a
// person: a refusal, an unsupported or contradictory claim, a primitive that does not exist, a name that this session
// has claimed already, a defect of ours. A waiting claim is repeated after errors that may pass, and ends with any
// other.
func Passing(err error) bool {
	if err == nil || hopeless(err) {
		return false
	}
	return !failure.IsAny(err, ErrNotFound, ErrClaimed, spawn.ErrPanic)
}

// hopeless reports whether repeating the request is useless.
func hopeless(err error) bool {
	return failure.IsAny(err, ErrRefused, ErrUnsupported, ErrInvalid, ErrDataTooLong)
}

// Lost returns err as the reason for the end of a grant or a session. An err that wraps ErrLost, ErrExpired, ErrReleased
// or ErrClosed is returned as it is, any other is wrapped in an ErrLost.
func Lost(err error) error {
	if verdict(err) || errors.Is(err, ErrReleased) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// verdict reports whether an error ends a lease or session for good.
func verdict(err error) bool {
	return failure.IsAny(err, ErrLost, ErrExpired, ErrClosed)
}

// Uncertain returns the error of a claim that ended but may still be granted. It wraps ErrUncertain, and cause unless
// that is nil. until is a clause about the end of such a grant, for example "it would run out within 10s".
func Uncertain(until string, cause error) error {
	return failure.Sentence("whether it was taken is not known; "+until, ErrUncertain, cause)
}

// Error names the operation and the primitive of an error. It wraps the cause and never holds a
// secret: no nonce, no password, no connection string.
type Error struct {
	Op     string // the operation, an infinitive: "open", "acquire", "renew"
	Driver string // Driver.Name
	Kind   Kind   // KindNone if no primitive is concerned
	Name   string // the primitive; "" if none is concerned
	Err    error
}

// wrap returns an *Error for err, which the operation op on the primitive of c returned. The primitive may be missing.
// wrap returns nil if err is nil.
func wrap(d Driver, op string, c Claim, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Driver: d.Name(), Kind: c.Kind, Name: c.Name, Err: err}
}

// Error returns a text such as "redis: acquire election \"app:leader:x\": refused".
func (e *Error) Error() string {
	// The cause may be the end of a session, which is an Error of the same driver.
	cause := strings.TrimPrefix(fmt.Sprint(e.Err), e.Driver+": ")
	if e.Name == "" {
		return fmt.Sprintf("%s: %s: %s", e.Driver, e.Op, cause)
	}
	return fmt.Sprintf("%s: %s %v %q: %s", e.Driver, e.Op, e.Kind, e.Name, cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
