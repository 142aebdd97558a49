package ydbcoord

import (
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"time"
	"unicode/utf8"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
)

// SemaphoreState is one read of one semaphore.
type SemaphoreState struct {
	Name   string
	Absent bool // there is no semaphore of this name; Semaphore is zero
	Semaphore
	// Asked and At are instants on our clock. The semaphore had this state at some instant between them.
	Asked, At time.Time
	// Fired reports whether a notice of a watch caused this read, so that the change was pushed, not only found by a
	// read.
	Fired bool
	// If Fired, Since is a time before the change: when the newest request was sent that was answered before the
	// notice, on the stream that carries both in order. If Fired is false and Since is not zero, a notice was lost, and
	// changes after Since may have been missed.
	Since time.Time
	// Err wraps coord.ErrRefused if the service does not let us read the semaphore. The Follower then drops the name.
	Err error

	request uint64 // the describe request that this state answers
}

// newDescribe returns a request that describes a semaphore with owners and waiters; with verbArm it also arms a watch.
func newDescribe(v verb, name string) *request {
	return newRequest(v, name, func(id uint64, _ time.Time) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{
			DescribeSemaphore: &pb.SessionRequest_DescribeSemaphore{
				ReqId: id, Name: name, IncludeOwners: true, IncludeWaiters: true, WatchData: v == verbArm, WatchOwners: v == verbArm,
			},
		}}
	})
}

// semaphore returns the answer to a describe; without an answer it has only the name.
func (r *request) semaphore() Semaphore {
	return decodeSemaphore(r.name, r.reply.GetDescribeSemaphoreResult().GetSemaphoreDescription())
}

// stateLocked returns the state in the answer to a describe. A semaphore that does not exist is no error.
func (s *Session) stateLocked(r *request) (SemaphoreState, error) {
	state := SemaphoreState{Name: r.name, Asked: r.sent, At: time.Now(), request: r.id}
	switch {
	case errors.Is(r.err, coord.ErrNotFound):
		state.Absent = true
	case r.err != nil:
		return state, r.err
	default:
		state.Semaphore = r.semaphore()
	}
	s.ownedLocked(r, state)
	if r.verb == verbDescribe {
		state.Since = s.watches.untoldLocked(state)
		s.flushLocked()
	}
	return state, nil
}

// digest returns a checksum of everything whose change a watch reports: the owners, whose order means nothing, and the
// data.
func (st *SemaphoreState) digest() uint64 {
	sum := crc64.Update(crc64.Checksum(fmt.Append(nil, st.Absent), digestTable), digestTable, st.Data)
	for _, o := range st.Owners {
		sum += crc64.Update(crc64.Checksum(fmt.Append(nil, o.Session, o.Order, o.Count), digestTable), digestTable, o.Data)
	}
	return sum
}

var digestTable = crc64.MakeTable(crc64.ECMA)

// Look reads a semaphore now, owners and waiters included. If the semaphore does not exist, Look returns no error but a
// state that is Absent. It does not disturb a watch of the same semaphore.
func (s *Session) Look(ctx context.Context, name string) (SemaphoreState, error) {
	if err := CheckName(name); err != nil {
		return SemaphoreState{}, err
	}
	r := newDescribe(verbDescribe, name)
	var state SemaphoreState
	var err error
	r.then = func() { state, err = s.stateLocked(r) }
	if e := s.ask(ctx, r); e != nil && !state.Absent {
		return SemaphoreState{}, e
	}
	return state, err
}

// Describe implements coord.Describer. A mutex that does not exist has no owner; for another kind the error is
// coord.ErrNotFound.
func (s *Session) Describe(ctx context.Context, kind coord.Kind, name string) (coord.Description, error) {
	state, err := s.Look(ctx, name)
	switch {
	case err != nil:
		return coord.Description{}, fmt.Errorf("describing: %w", err)
	case state.Absent && kind != coord.KindMutex:
		return coord.Description{}, fmt.Errorf("describing: there is no semaphore %q: %w", name, coord.ErrNotFound)
	}
	return state.describe(kind, s.incarnation), nil
}

// longestName is the longest name that the service accepts for a semaphore.
const longestName = 1024

// CheckName refuses a name that gRPC cannot carry, or that no semaphore can have.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the name is empty", coord.ErrInvalid)
	case len(name) > longestName:
		return fmt.Errorf("%w: the name has %d bytes, at most %d", coord.ErrInvalid, len(name), longestName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: the name is not UTF-8", coord.ErrInvalid)
	}
	return nil
}
