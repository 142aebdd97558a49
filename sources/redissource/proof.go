package redissource

import (
	"context"
	"time"

	"coordtop/sources"
)

// tracks reports whether every end of the key is pushed.
func (l *link) tracks(k *key) bool { return k.byKey || l.push.tracks(k.name) }

// unpushedUntil is up to when it is proved that no change of k was pushed; zero: since the
// last look.
func (l *link) unpushedUntil(k *key) time.Time {
	confirmed := l.heartbeatOf(k).confirmedAt()
	if l.inbox.has(k.name) {
		return time.Time{}
	}
	return confirmed
}

// pingAt is when the read connection is to be pinged: it proves that the server lives where
// there is no other, and servers close connections that they hear nothing from. What is pushed
// on it is received with the next answer.
func (l *link) pingAt() time.Time {
	switch {
	case l.push == nil:
		return l.answered.Add(time.Second)
	case l.push.onReads:
		pause := l.readHeartbeat.pause(l.pingLimit()) // a quarter of it is left for waiting
		return sources.Later(l.readHeartbeat.confirmedAt().Add(pause), l.answered.Add(pause/4))
	}
	return l.answered.Add(10 * time.Second)
}

// pingReads pings the read connection to prove it is alive.
func (l *link) pingReads(ctx context.Context) error {
	start := time.Now()
	l.readHeartbeat.sent(start)
	if err := l.conn.Ping(ctx).Err(); err != nil {
		return err
	}
	l.server.roundTrip = time.Since(start)
	l.readHeartbeat.answered(time.Now())
	l.readAnswered(start)
	return nil
}

// readAnswered notes that what was sent then, on the read connection, was answered now.
func (l *link) readAnswered(sent time.Time) {
	l.answered = time.Now()
	l.readHeartbeat.confirm(sent, l.answered)
	if l.readHeartbeat.tellAlive(l.answered, l.pingLimit()) {
		l.Answered()
	}
}

// heartbeatOf is that of the connection on which changes of k are pushed.
func (l *link) heartbeatOf(k *key) *heartbeat {
	if k.byKey && l.push != nil && l.push.onReads {
		return &l.readHeartbeat
	}
	return &l.heartbeat
}

// provePushes pings the push connection at once, to prove that no push about a lease that is
// over is on its way, unless some pings wait for their answers.
func (l *link) provePushes(ctx context.Context, now time.Time) error {
	if l.push == nil || l.push.connection == nil || !l.heartbeat.pingDue(now, patience) {
		return nil
	}
	return l.ping(ctx, l.push)
}
