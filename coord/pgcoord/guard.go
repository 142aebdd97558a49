package pgcoord

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Guard identifies one ownership of an advisory lock, or one wait for it: it has the session's process and start, the
// lock, and the mode.
type Guard struct {
	PID      uint32
	Start    int64  // of the process, Unix µs of the server
	GID      string // of a prepared transaction, which has no process; "" for a session
	Database uint32 // oid
	Key      Key
	Mode     string // as in pg_locks, for example "ExclusiveLock"
	Since    int64  // beginning of the wait, Unix µs of the server; 0 for an owner, or if the server does not report it
}

// guardModes are the usual modes as a Guard writes them; a Guard has others as in pg_locks.
var guardModes = map[string]string{"ExclusiveLock": "exclusive", "ShareLock": "shared"}

// String writes a Guard as sources show it, for example "pid=4711,start=1795379113337158,db=5,key=4242,mode=exclusive".
func (g Guard) String() string {
	who := fmt.Sprintf("pid=%d,start=%d", g.PID, g.Start)
	if g.GID != "" {
		who = "gid=" + strings.NewReplacer(",", "%2C", " ", "%20", "%", "%25", "=", "%3D").Replace(g.GID)
	}
	mode := cmp.Or(guardModes[g.Mode], g.Mode)
	text := fmt.Sprintf("%s,db=%d,key=%v,mode=%s", who, g.Database, g.Key, mode)
	if g.Since != 0 {
		text += ",since=" + strconv.FormatInt(g.Since, 10)
	}
	return text
}

// errGuard reports that a text is no guard of a session.
var errGuard = errors.New("not a guard as the source shows it")

// ParseGuard parses the text of String for a guard of a session.
func ParseGuard(text string) (Guard, error) {
	var g Guard
	fields := map[string]string{}
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(fields[name], 10, 64) // the comparison below catches text that is no number
		return n
	}
	g.PID, g.Start, g.Database, g.Since = uint32(number("pid")), number("start"), uint32(number("db")), number("since")
	g.Key, _, _ = ParseKey(fields["key"])
	g.Mode = fields["mode"]
	for mode, word := range guardModes {
		if word == g.Mode {
			g.Mode = mode
		}
	}
	if g.PID == 0 || g.Start == 0 || g.Mode == "" || g.String() != text {
		return Guard{}, errGuard
	}
	return g, nil
}
