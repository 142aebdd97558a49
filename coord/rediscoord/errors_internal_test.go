package rediscoord

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"coordtop/coord"
)

// reply is an answer as the library makes it.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestClassifyTellsWhatPassesFromWhatDoesNot(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6}, Err: syscall.ECONNREFUSED}
	for _, c := range []struct {
		err  error
		says string // "": as it is
		pass bool
	}{
		{reply("LOADING Redis is loading the dataset in memory"), "the server is loading its data (LOADING)", true},
		{reply("BUSY Redis is busy running a script."), "the server is busy with a script of somebody's (BUSY)", true},
		{reply("UNKILLABLE Sorry the script already executed writes."), "(UNKILLABLE)", true},
		{reply("READONLY You can't write against a read only replica."), "(READONLY)", true},
		{reply("MASTERDOWN Link with MASTER is down"), "(MASTERDOWN)", true},
		{reply("NOREPLICAS Not enough good replicas to write."), "(NOREPLICAS)", true},
		{reply("OOM command not allowed when used memory > 'maxmemory'."), "(OOM)", true},
		{reply("MISCONF Redis is configured to save RDB snapshots"), "(MISCONF)", true},
		{reply("TRYAGAIN Multiple keys request during rehashing of slot"), "(TRYAGAIN)", true},
		{reply("CLUSTERDOWN The cluster is down"), "(CLUSTERDOWN)", true},
		{reply("ERR max number of clients reached"), "the server has no connection left for us (ERR max number of clients)", true},
		{reply("ERR something new"), "", true},
		{refused, "cannot connect to 127.0.0.1:6: connection refused", true},
		{io.EOF, "the server closed the connection", true},
		{&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, "the server closed the connection", true},
		{os.ErrDeadlineExceeded, "the server did not answer in time", true},
		{ErrNoExpiry, "", true},
		{reply("WRONGTYPE Operation against a key holding the wrong kind of value"), "", false},
		{reply("NOAUTH Authentication required."), "", false},
		{reply("WRONGPASS invalid username-password pair or user is disabled."), "", false},
		{reply("NOPERM this user has no permissions"), "", false},
		{reply("CROSSSLOT Keys in request don't hash to the same slot"), "", false},
	} {
		got := classify(c.err)
		if coord.Passing(got) != c.pass || !errors.Is(got, c.err) {
			t.Errorf("%v becomes %v; passing %v, want %v", c.err, got, coord.Passing(got), c.pass)
		}
		if !strings.Contains(got.Error(), c.says) {
			t.Errorf("%v says %q, want %q", c.err, got, c.says)
		}
	}
}
