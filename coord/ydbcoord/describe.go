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
	// Asked and At are instants on our clock. The semaphore had this state at an instant between them.
	Asked, At time.Time
	// Fired reports whether this read follows the notice of a watch: its change was
	// pushed, not only read.
	Fired bool
	// Since is a time before the change if Fired: the sending of the newest request
	// that was answered before the watch notified us, on the stream that carries both in order. If
	// not Fired and not zero, a notice was lost: anything may have come and gone since then.
	Since time.Time
	// Err wraps coord.ErrRefused if the service does not let us read the semaphore; the name is not
	// followed any more.
	Err error

	request uint64 // the describe that it answers
}

// newDescribe describes a semaphore with owners and waiters; with verbArm it also arms a watch.
func newDescribe(v verb, name string) *request {
	return newRequest(v, name, func(id uint64, _ time.Time) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{
			DescribeSemaphore: &pb.SessionRequest_DescribeSemaphore{
				ReqId: id, Name: name, IncludeOwners: true, IncludeWaiters: true, WatchData: v == verbArm, WatchOwners: v == verbArm,
			},
		}}
	})
}

// semaphore returns the answer to a describe; without one it has only a name.
func (r *request) semaphore() Semaphore {
	return decodeSemaphore(r.name, r.reply.GetDescribeSemaphoreResult().GetSemaphoreDescription())
}

// stateLocked makes a state of the answer to a describe. A semaphore that does not exist
// is no error here.
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

// digest returns a checksum of everything whose change a watch reports: the owners, which come in no order, and
// the data.
func (st *SemaphoreState) digest() uint64 {
	sum := crc64.Update(crc64.Checksum(fmt.Append(nil, st.Absent), digestTable), digestTable, st.Data)
	for _, o := range st.Owners {
		sum += crc64.Update(crc64.Checksum(fmt.Append(nil, o.Session, o.Order, o.Count), digestTable), digestTable, o.Data)
	}
	return sum
}

var digestTable = crc64.MakeTable(crc64.ECMA)

// Look reads a semaphore now, owners and waiters included. One that does not exist is not
// an error but a SemaphoreState that says so. A watch that follows the same semaphore is not disturbed.
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

// Describe implements coord.Describer. A mutex that does not exist has no owner; another
// kind is coord.ErrNotFound.
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
