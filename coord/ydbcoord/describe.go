package ydbcoord

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
)

// Sight is one look at one semaphore.
type Sight struct {
	Name   string
	Absent bool // there is no semaphore of this name; Semaphore is zero
	Semaphore
	// What Semaphore tells was so at one instant between Asked and At, on our clock.
	Asked, At time.Time
	// Attach is LinkInfo.Number of the stream that it came on.
	Attach int
	// Fired says that a watch told of a change and this look answers that: what is new
	// in it was told, not only seen.
	Fired bool
	// Since, where Fired, is after when the change happened. Zero: it was told without
	// delay, and happened at At as nearly as the network lets us know.
	Since time.Time
	// Err is why the service will not let us look (coord.ErrRefused); the name is not
	// followed any more.
	Err error

	request uint64 // the describe that it answers
}

func newDescribe(name string) *request {
	return newRequest(verbDescribe, name, func(id uint64, _ time.Time) *pb.SessionRequest {
		return describeMessage(id, name, false)
	})
}

// sightLocked makes a sight of the answer to a describe. A semaphore that does not exist
// is no error here.
func (s *Session) sightLocked(r *request) (Sight, error) {
	sight := Sight{Name: r.name, Asked: r.sent, At: time.Now(), Attach: s.link.Number, request: r.id}
	switch {
	case errors.Is(r.err, coord.ErrNotFound):
		sight.Absent = true
		return sight, nil
	case r.err != nil:
		return sight, r.err
	}
	sight.Semaphore = decodeSemaphore(r.name, r.reply.GetDescribeSemaphoreResult().GetSemaphoreDescription())
	return sight, nil
}

// Look reads a semaphore now, owners and waiters included. That there is none is not an
// error but a Sight that says so. A watch that follows the same semaphore is not disturbed.
func (s *Session) Look(ctx context.Context, name string) (Sight, error) {
	sight, err := s.look(ctx, name)
	if err != nil {
		return Sight{}, fmt.Errorf("looking at semaphore %q: %w", name, err)
	}
	return sight, nil
}

func (s *Session) look(ctx context.Context, name string) (Sight, error) {
	if err := checkName(name); err != nil {
		return Sight{}, err
	}
	r := newDescribe(name)
	var sight Sight
	var err error
	r.then = func() { sight, err = s.sightLocked(r) }
	if e := s.ask(ctx, r); e != nil && !sight.Absent {
		return Sight{}, e
	}
	return sight, err
}

// Describe implements coord.Describer. A mutex that does not exist has no owner; another
// kind is coord.ErrNotFound.
func (s *Session) Describe(ctx context.Context, kind coord.Kind, name string) (coord.Description, error) {
	sight, err := s.look(ctx, name)
	switch {
	case err != nil:
		return coord.Description{}, fmt.Errorf("describing: %w", err)
	case sight.Absent && kind != coord.KindMutex:
		return coord.Description{}, fmt.Errorf("describing: there is no semaphore %q: %w", name, coord.ErrNotFound)
	}
	return s.qualified(sight.describe(kind)), nil
}

func (sight Sight) describe(kind coord.Kind) coord.Description {
	if !sight.Absent {
		return description(kind, sight.Semaphore)
	}
	d := coord.Description{Kind: kind, Name: sight.Name, Absent: true, WaitersKnown: true}
	if kind == coord.KindMutex {
		d.Limit, d.Ephemeral, d.Absent = 1, true, false
	}
	return d
}

// longestName is what the service takes when a semaphore is created.
const longestName = 1024

// checkName refuses what gRPC cannot carry and what no semaphore can be called.
func checkName(name string) error {
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

// suffix is what ids of owners end with, see Options.Incarnations.
func (s *Session) suffix() string {
	if s.incarnation == "" {
		return ""
	}
	return "@" + s.incarnation
}

func (s *Session) ownerID(session uint64) string { return OwnerID(session) + s.suffix() }

// qualified gives owners and waiters the ids that grants have.
func (s *Session) qualified(d coord.Description) coord.Description {
	for _, list := range [][]coord.Owner{d.Owners, d.Waiters} {
		for i := range list {
			list[i].ID += s.suffix()
		}
	}
	return d
}
