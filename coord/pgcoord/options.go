package pgcoord

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"coordtop/coord"
)

const (
	defaultIdentity = "coordtop"
	defaultTTL      = 11 * time.Second // keepalives of 5 s, then 3 every 2 s
	defaultQueue    = 256
	defaultConnect  = 5 * time.Second
	shortestTTL     = 500 * time.Millisecond
	longestTTL      = 9 * time.Hour // keepalives are limited to 32767 s

	channelLimit = 63 // bytes of a channel's name; the server cuts longer names without notice
)

// Override replaces parts of the address. Empty fields replace nothing.
type Override struct {
	User, Password string
	Database       string // another database of the same server; each has its own advisory locks
	// TLS is then required. An empty ServerName in it stands for the host.
	TLS *tls.Config
}

// Options configure a driver. The zero value is usable.
type Options struct {
	// Actor is the name in announcements of a forced release. If it is "", nothing is announced.
	Actor string
	// TTL is for sessions that set none. It is the time for which the server keeps what we own after the connection to
	// us was cut without notice. Keepalives count whole seconds, so that the server's time is rounded up, to at least 2
	// s; ours is exact. 0: 11 s. At least 500 ms.
	TTL time.Duration
	// Poll makes waiting claims try repeatedly instead of standing in the server's queue. The pauses are random,
	// between half of Poll and Poll. Clients in the queue then come first. 0: claims stand in the queue.
	Poll time.Duration
	// Scheme computes the keys of names that are no numbers. "": Hashtextextended.
	Scheme Scheme
	// Channels are the channels to which the connection of the election's lock listens while we lead.
	Channels []Listener
	// Queue is the maximum number of notifications that wait for a slow handler. One more drops the oldest, which
	// Notification.Missed counts. 0: 256.
	Queue    int
	Override Override
	// Dial makes the network connections. If it is nil, they are TCP with keepalives of our own, or a Unix socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Listener is a channel that a leader listens to.
type Listener struct {
	// Channel is its name, at most 63 bytes. Upper and lower case differ, because the name is quoted.
	Channel string
	// Handle is called for each notification, one at a time, in the order of arrival, on a goroutine of the grant, so
	// that a slow handler delays no renewal. Its context ends with the grant. Closing the session waits for it.
	Handle func(ctx context.Context, n Notification)
}

// Notification is one notification of a channel.
type Notification struct {
	Channel, Payload string
	PID              uint32 // of the session that sent it
	Missed           uint64 // dropped just before this one because the handler was slow
}

// check returns the options with the defaults filled in, or an error if they contradict each other.
func (o Options) check() (Options, error) {
	var err error
	if o.Scheme, err = ParseScheme(string(o.Scheme)); err != nil {
		return o, fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	}
	if o.Poll < 0 {
		return o, fmt.Errorf("%w: Poll is negative (%v)", coord.ErrInvalid, o.Poll)
	}
	o.TTL = cmp.Or(o.TTL, defaultTTL)
	o.Queue = cmp.Or(max(o.Queue, 0), defaultQueue)
	for _, l := range o.Channels {
		if err := CheckChannel(l.Channel); err != nil {
			return o, err
		}
		if l.Handle == nil {
			return o, fmt.Errorf("%w: channel %q has no handler", coord.ErrInvalid, l.Channel)
		}
	}
	return o, CheckTTL(o.TTL)
}

// CheckTTL refuses a TTL that no session can have.
func CheckTTL(ttl time.Duration) error { return coord.CheckTTL(ttl, shortestTTL, longestTTL) }

// CheckChannel returns an error if Postgres cannot listen to a channel of that name.
func CheckChannel(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: a channel without a name", coord.ErrInvalid)
	case len(name) > channelLimit:
		return fmt.Errorf("%w: the channel's name has %d bytes, Postgres keeps %d", coord.ErrInvalid, len(name), channelLimit)
	case !validText(name):
		return fmt.Errorf("%w: the channel's name %q has a zero byte or is not UTF-8", coord.ErrInvalid, name)
	}
	return nil
}

// Wire describes the statements of a call in one line. It returns "" for a call that this backend does not support.
func (o Options) Wire(call coord.Call, c coord.Claim) string {
	key, function, shared := o.Scheme.sql(c.Name), "pg_advisory_lock", ""
	if c.Wait == 0 {
		function = "pg_try_advisory_lock"
	}
	if c.Mode == coord.Shared {
		shared = "_shared"
	}
	switch call {
	case coord.CallAcquire:
		return fmt.Sprintf("select %s%s(%s), on a connection of its own", function, shared, key)
	case coord.CallPublish:
		return fmt.Sprintf("set application_name with the data %s, and notify %s", coord.Quoted(c.Data), Channel)
	case coord.CallRelease:
		return fmt.Sprintf("select pg_advisory_unlock%s(%s)", shared, key)
	}
	return ""
}

// sql returns the key of a lock as it stands in a statement.
func (s Scheme) sql(name string) string {
	k, named, err := ParseKey(name)
	quoted := "'" + strings.ReplaceAll(name, "'", "''") + "'"
	switch {
	case named && (s == "" || s == Hashtextextended):
		return "hashtextextended(" + quoted + ", 0)"
	case named:
		return string(s) + "(" + quoted + ")"
	}
	if a, b, pair := k.Pair(); pair && err == nil {
		return fmt.Sprintf("%d, %d", a, b)
	}
	return name
}
