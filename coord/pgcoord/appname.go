package pgcoord

import (
	"strconv"
	"strings"
	"time"
)

const (
	nameLimit     = 63 // bytes that the server keeps of application_name
	identityLimit = 40
	dataSign      = "|"
	cutSign       = "..."
)

// ApplicationName is how an owner or waiter of ours shows itself: the identity and, if
// there is any, | and the data. Only printable ASCII survives all versions of Postgres, so
// the data ends at the first other byte or where 63 bytes are full; three dots then say
// that it goes on.
func ApplicationName(identity string, data []byte) string {
	name := Identity(identity)
	if len(data) == 0 {
		return name
	}
	name += dataSign
	room := nameLimit - len(name)
	fit := printable(data)
	if fit == len(data) && fit <= room {
		return name + string(data)
	}
	return name + string(data[:min(fit, room-len(cutSign))]) + cutSign
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

// printable is how many bytes at the beginning of data are printable ASCII.
func printable(data []byte) int {
	for i, b := range data {
		if b < ' ' || b > '~' {
			return i
		}
	}
	return len(data)
}

// ParseApplicationName takes apart what ApplicationName made, and any other program's
// name, which is an identity without data. cut reports whether the data goes on (or happens to
// end with three dots).
func ParseApplicationName(name string) (identity, data string, cut bool) {
	identity, data, _ = strings.Cut(name, dataSign)
	data, cut = strings.CutSuffix(data, cutSign)
	return identity, data, cut
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
