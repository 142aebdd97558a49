package pgcoord

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/coord"
)

const (
	nameLimit     = 63 // bytes that the server keeps of application_name
	identityLimit = 40
	dataSign      = "|"
)

// ApplicationName returns the name for the session of our owner or waiter: the identity and, if there is data, | and
// the data.
func ApplicationName(identity string, data []byte) string {
	if len(data) == 0 {
		return Identity(identity)
	}
	return Identity(identity) + dataSign + string(data)
}

// maxData returns the number of bytes of data that fit into a session's name with this identity.
func maxData(identity string) int { return nameLimit - len(Identity(identity)+dataSign) }

// checkText refuses data that the name of a session cannot show. Only printable ASCII survives all
// versions of Postgres.
func checkText(data []byte) error {
	if slices.ContainsFunc(data, func(b byte) bool { return b < ' ' || b > '~' }) {
		return fmt.Errorf("%w: data that is not printable ASCII: Postgres shows no other in the name of a session", coord.ErrInvalid)
	}
	return nil
}

// Identity returns the identity for a wished name: at most 40 bytes of printable ASCII, without the | that separates it
// from the data. For "" it returns "coordtop".
func Identity(wish string) string {
	if wish == "" {
		return defaultIdentity
	}
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '|' {
			return '_'
		}
		return r
	}, wish)
	return clean[:min(len(clean), identityLimit)]
}

// ParseApplicationName splits a name that ApplicationName made. It returns any other program's name as an identity
// without data.
func ParseApplicationName(name string) (identity, data string) {
	identity, data, _ = strings.Cut(name, dataSign)
	return identity, data
}

// OwnerID returns the identity of a session, as coord.GrantInfo and sources show it: the pid, @ and the start of the
// backend in UTC. Together they never occur again. If start is zero, because we may not read it, the identity is the
// pid alone.
func OwnerID(pid uint32, start time.Time) string {
	id := strconv.FormatUint(uint64(pid), 10)
	if start.IsZero() {
		return id
	}
	return id + "@" + start.UTC().Format("2006-01-02T15:04:05.000000Z")
}
