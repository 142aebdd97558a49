package ydbcoord

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
)

// Semaphore is a semaphore as the service describes it.
type Semaphore struct {
	Name            string
	Data            []byte // of the semaphore itself; each owner has its own
	Limit, Taken    uint64 // permits; the limit of an ephemeral semaphore is AllPermits
	Ephemeral       bool
	Owners, Waiters []SemaphoreMember // owners by order id, waiters in the order of the queue
}

// SemaphoreMember is one session's claim or ownership of a semaphore.
type SemaphoreMember struct {
	Session uint64
	Order   uint64 // the fence of an owner, the place of a waiter
	Count   uint64 // permits
	Data    []byte
	Timeout time.Duration // of a waiter's claim, may be coord.Forever; 0 for owners
}

// OwnerID returns the identity of a session: its number, which is not used again while the coordination node exists,
// and the incarnation of the node, unless that is "".
func OwnerID(session uint64, incarnation string) string {
	id := strconv.FormatUint(session, 10)
	if incarnation != "" {
		id += "@" + incarnation
	}
	return id
}

func decodeSemaphore(name string, d *pb.SemaphoreDescription) Semaphore {
	return Semaphore{
		Name: name, Data: d.GetData(), Limit: d.GetLimit(), Taken: d.GetCount(), Ephemeral: d.GetEphemeral(),
		Owners: decodeMembers(d.GetOwners()), Waiters: decodeMembers(d.GetWaiters()),
	}
}

func decodeMembers(links []*pb.SemaphoreSession) []SemaphoreMember {
	decoded := make([]SemaphoreMember, len(links))
	for i, l := range links {
		decoded[i] = SemaphoreMember{
			Session: l.GetSessionId(), Order: l.GetOrderId(), Count: l.GetCount(), Data: l.GetData(),
			Timeout: durationOf(l.GetTimeoutMillis()),
		}
	}
	// The service reports owners in no order, but two reads of one state should be equal.
	slices.SortFunc(decoded, func(a, b SemaphoreMember) int { return cmp.Compare(a.Order, b.Order) })
	return decoded
}

// describe converts a state for the core. An ephemeral or missing mutex is never Absent there, and its limit is 1,
// because all its permits count as one.
func (state SemaphoreState) describe(kind coord.Kind, incarnation string) coord.Description {
	d := coord.Description{
		Kind: kind, Name: state.Name, Limit: state.Limit, Taken: state.Taken, Ephemeral: state.Ephemeral,
		Data: state.Data, Absent: state.Absent, WaitersKnown: true,
	}
	whole := kind == coord.KindMutex && (state.Ephemeral || state.Absent)
	if whole {
		d.Limit, d.Taken, d.Ephemeral, d.Absent = 1, uint64(min(len(state.Owners), 1)), true, false
	}
	owner := func(m SemaphoreMember) coord.Owner {
		o := coord.Owner{ID: OwnerID(m.Session, incarnation), Permits: m.Count, Fence: m.Order, Data: m.Data}
		if whole && m.Count == AllPermits {
			o.Permits = 1
		}
		return o
	}
	for _, m := range state.Owners {
		d.Owners = append(d.Owners, owner(m))
	}
	for _, m := range state.Waiters {
		d.Waiters = append(d.Waiters, owner(m))
	}
	return d
}
