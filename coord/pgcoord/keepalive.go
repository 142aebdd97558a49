package pgcoord

import (
	"cmp"
	"net"
	"time"
)

// keepalive is how a TCP connection finds out that its other end is gone: after idle without a
// word it asks, every interval, and gives up after count questions without an answer.
type keepalive struct {
	idle, interval time.Duration // whole seconds, at least one
	count          int
}

// keepaliveFor spreads a time over the three settings, rounded up to whole seconds. The
// shortest they can do is two; 11 s are 5, 2 and 3.
func keepaliveFor(ttl time.Duration) keepalive {
	seconds := max(int((ttl+time.Second-1)/time.Second), 2)
	interval := max(seconds/5, 1)
	count := min(3, (seconds-1)/interval)
	return keepalive{
		idle:     time.Duration(seconds-interval*count) * time.Second,
		interval: time.Duration(interval) * time.Second,
		count:    count,
	}
}

// budget is the time from the last word to giving up.
func (k keepalive) budget() time.Duration { return k.idle + time.Duration(k.count)*k.interval }

// config is the client's side of it: a claim in the queue sends nothing, and learns only
// so that its server is gone.
func (k keepalive) config() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: k.idle, Interval: k.interval, Count: k.count}
}

// window is how long we trust a grant: the TTL, if the server's settings make it keep a session that
// it cannot reach any more for at least that long. That is the keepalives' time, or the user
// time-out where that is set, for it overrides their count and the number of retransmissions
// (tcp_keepalive_timer and tcp_write_timeout of the Linux kernel). Without such settings, as on a
// Unix socket, it keeps it for ever.
func (k keepalive) window(ttl, userTimeout time.Duration) time.Duration {
	return min(ttl, cmp.Or(max(userTimeout, 0), max(k.budget(), 0), ttl))
}
