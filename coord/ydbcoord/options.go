package ydbcoord

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coordtop/coord"
)

// Limits of the service (ydb/core/kesus/tablet/tablet_impl.h), in its own units.
const (
	maxData        = 1 << 20          // bytes of data of a claim or a semaphore
	maxDescription = 1024             // bytes
	longestTTL     = 30 * time.Minute // of a session
	longestWait    = 24 * time.Hour   // of a claim whose wait is limited
)

const (
	defaultTTL  = 10 * time.Second
	shortestTTL = 100 * time.Millisecond // a server pings every third of it
)

// Options configure a driver. The zero value is usable.
type Options struct {
	// TTL is the session timeout for sessions that set none. It is the time for which the service keeps what we own
	// after our last stream broke. 0: 10 s. From 100 ms to 30 min.
	TTL time.Duration
	// CreateElections makes a campaign create its semaphore, with a limit of 1, if it does not exist. Without this
	// option a campaign on a missing semaphore returns coord.ErrNotFound, so that a mistyped name elects nobody.
	CreateElections bool
	// MirrorProclamations also writes published data into the semaphore's own data, for
	// clients that keep a leader's data there (the proclaim of
	// @ydbjs/coordination). That write is not fenced: the service accepts it from anybody. The option
	// has no effect on mutexes, which are ephemeral.
	MirrorProclamations bool
	// Incarnations adds the coordination node's incarnation to the ids of owners, as sources/ydbsource does: because a
	// node that was dropped and created again uses session numbers a second time. This costs a description of the node
	// for each session. If the description is refused, the ids have no incarnation.
	Incarnations bool
	// ClientsUnprotected reports whether the sessions of other programs have no protection key, for example with
	// @ydbjs/coordination and YDB's SDK for Python. ForceRelease then ends the owner's session. It must not be set if
	// owners use the SDK for Go, C++, Java or Rust. Their sessions have a key, and the attempt cuts their stream if
	// both are on the same YDB node (ydb/core/kesus/proxy/proxy_actor.cpp evicts the stream before it compares the
	// key). An owner that does not attach again after that stays the owner until the node's tablet restarts.
	ClientsUnprotected bool
	// AllowRecreate lets ForceRelease delete a lasting semaphore with all its owners and waiters,
	// and create it again with its limit and data. The service does not notify the owners.
	AllowRecreate bool
}

// CheckTTL refuses a TTL that no session can have.
func CheckTTL(ttl time.Duration) error { return coord.CheckTTL(ttl, shortestTTL, longestTTL) }

// cutDescription returns text as a description that the service accepts: short enough, and valid UTF-8, because gRPC
// sends nothing else.
func cutDescription(text string) string {
	return cutText(strings.ToValidUTF8(text, "?"), maxDescription)
}

// Wire describes the request of a call in one line.
func (Options) Wire(call coord.Call, c coord.Claim) string {
	name, count, timeout, data := strconv.Quote(c.Name), strconv.FormatUint(max(c.Permits, 1), 10), "", ""
	if c.Kind == coord.KindMutex {
		count = "all permits, ephemeral"
	}
	if c.Wait == 0 {
		timeout = ", timeout 0"
	}
	if len(c.Data) > 0 {
		data = " with the data " + coord.Quoted(c.Data)
	}
	switch call {
	case coord.CallAcquire:
		return fmt.Sprintf("acquire_semaphore %s, count %s%s%s, in a session of its own", name, count, timeout, data)
	case coord.CallPublish:
		return fmt.Sprintf("acquire_semaphore %s once more, timeout 0%s", name, data)
	case coord.CallRelease:
		return "release_semaphore " + name
	case coord.CallCreate:
		return fmt.Sprintf("create_semaphore %s, limit %d%s", name, max(c.Limit, 1), data)
	case coord.CallUpdate:
		return fmt.Sprintf("update_semaphore %s%s", name, data)
	case coord.CallDelete:
		return "delete_semaphore " + name + ", without force"
	}
	return ""
}
