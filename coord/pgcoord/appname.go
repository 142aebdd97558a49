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

// ApplicationName is how an owner or waiter of ours shows itself: the identity and, if
// there is any, | and the data.
func ApplicationName(identity string, data []byte) string {
	if len(data) == 0 {
		return Identity(identity)
	}
	return Identity(identity) + dataSign + string(data)
}

// maxData is how much data the name of a session has room for beside its identity.
func maxData(identity string) int { return nameLimit - len(Identity(identity)+dataSign) }

// checkData refuses data that the name of a session cannot show. Only printable ASCII survives all
// versions of Postgres.
func checkData(identity string, data []byte) error {
	if most := maxData(identity); len(data) > most {
		return fmt.Errorf("%w: %d bytes, at most %d beside our name", coord.ErrDataTooLong, len(data), most)
	}
	if slices.ContainsFunc(data, func(b byte) bool { return b < ' ' || b > '~' }) {
		return fmt.Errorf("%w: data that is not printable ASCII: Postgres shows no other in the name of a session", coord.ErrInvalid)
	}
	return nil
}

// Identity is what becomes of a wished identity: at most 40 bytes of printable ASCII
// without the | that separates it from the data. "": "coordtop".
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

// ParseApplicationName takes apart what ApplicationName made, and any other program's
// name, which is an identity without data.
func ParseApplicationName(name string) (identity, data string) {
	identity, data, _ = strings.Cut(name, dataSign)
	return identity, data
}

// OwnerID is the identity of a session, as coord.GrantInfo and sources show it: the pid,
// @ and the start of the backend in UTC, which together never come again. Zero start: it
// is hidden from us, and the pid alone must do.
func OwnerID(pid uint32, start time.Time) string {
	id := strconv.FormatUint(uint64(pid), 10)
	if start.IsZero() {
		return id
	}
	return id + "@" + start.UTC().Format("2006-01-02T15:04:05.000000Z")
}
