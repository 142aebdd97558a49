package redissource

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// heartbeat knows how far a connection on which the server pushes can be believed, from its pings
// and their answers. The server answers in order: when a ping is answered, every push of what
// happened before the ping was sent has arrived. It is safe for concurrent use.
type heartbeat struct {
	mu    sync.Mutex
	known pulse
}

// pulse is what a heartbeat knows at one instant.
type pulse struct {
	outstanding []time.Time // sending of the pings without an answer, oldest first
	confirmed   time.Time   // sending of the newest ping with one
	heard       time.Time   // when that answer came
	told        time.Time   // when it was last told that the server answers
	pushed      time.Time   // when something was last pushed; zero: nothing was yet
	roundTrip   time.Duration
	trips       kit.RoundTrips
	gathers     bool // messages stay unread until the next ping: see gathering
	unmeasured  int  // so many outstanding pings, the oldest, measure nothing: their answers stay unread for a while
}

// now is what is known now.
func (p *heartbeat) now() pulse {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

// reset forgets a connection that was left.
func (p *heartbeat) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = pulse{}
}

// gather notes that messages stay unread until the next ping, or do not any more, and returns which. They do not over
// a link that is far away.
func (p *heartbeat) gather(wanted bool) (on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.gathers = wanted && p.known.trips.Shortest() <= nearest
	p.known.noteUnmeasured()
	return p.known.gathers
}

func (p *pulse) noteUnmeasured() {
	if p.gathers {
		p.unmeasured = len(p.outstanding)
	}
}

func (p *heartbeat) sent(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.outstanding = append(p.known.outstanding, at)
	p.known.noteUnmeasured()
}

func (p *heartbeat) answered(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known.outstanding) == 0 {
		return
	}
	p.known.confirmed, p.known.heard = p.known.outstanding[0], at
	if p.known.unmeasured > 0 {
		p.known.unmeasured--
	} else {
		p.known.measured(max(at.Sub(p.known.confirmed), time.Microsecond))
	}
	p.known.outstanding = p.known.outstanding[1:]
}

// confirm notes that what was sent then was answered now, and was not a ping: that can take
// longer than the link does.
func (p *heartbeat) confirm(sent, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.confirmed, p.known.heard = sent, now
	if trip := max(now.Sub(sent), time.Microsecond); trip < p.known.trips.Shortest() {
		p.known.measured(trip)
	}
}

func (p *pulse) measured(trip time.Duration) {
	p.roundTrip = trip
	p.trips.Add(trip)
}

// tellAlive reports whether it is to be told that the server answers, which is done about once in every:
// the answer to a ping that was sent every after the last one may come a little sooner.
func (p *heartbeat) tellAlive(now time.Time, every time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.known.told) < every-every/8 {
		return false
	}
	p.known.told = now
	return true
}

// pingPause is the pause between two pings. It bounds how long a push can be late without
// being found out, and how long messages stay unread where pushes are gathered, so it is below sources.Promptness;
// a link that is farther away is granted more.
// While nothing happens, a ping a second is enough: the first change after that is known to that interval only.
const pingPause = 20 * time.Millisecond

// pause is the one before the next ping: longest at most.
func (p pulse) pause(quiet bool, now time.Time, longest time.Duration) time.Duration {
	usual := pingPause
	if quiet {
		usual = backoff.UntilTurn(now)
	}
	return min(max(usual, 2*p.trips.Shortest()), longest)
}

// focusHints are Hints that know when somebody last moved on the screen.
type focusHints struct {
	kit.Hints
	focused atomic.Pointer[time.Time] // nil: never
}

// Focus implements sources.Focuser.
func (h *focusHints) Focus(visible []sources.Ref, selected sources.Ref) {
	now := time.Now()
	h.focused.Store(&now)
	h.Hints.Focus(visible, selected)
}

// quiet reports whether nothing was pushed for Options.Quiet, and nobody moved on the screen.
func (l *link) quiet(p pulse, now time.Time) bool {
	last := sources.Later(l.began, p.pushed)
	if at := l.hints.focused.Load(); at != nil {
		last = sources.Later(last, *at)
	}
	return now.Sub(last) >= l.o.Quiet
}

// pingDue reports whether a ping is of use. While one waits for its answer another is sent
// only after longest: a link that does not move is not filled up.
func (p pulse) pingDue(now time.Time, longest time.Duration) bool {
	n := len(p.outstanding)
	return n == 0 || n == 1 && p.gathers || now.Sub(p.outstanding[n-1]) >= longest
}

// silence is for how long nothing was heard, while a ping waits for its answer; else 0.
func (p pulse) silence(now time.Time) time.Duration {
	switch {
	case len(p.outstanding) == 0:
		return 0
	case p.heard.IsZero():
		return now.Sub(p.outstanding[0])
	}
	return now.Sub(p.heard)
}

// tolerance is how long a prompt link may take for a push or a read.
func (p pulse) tolerance() time.Duration { return p.trips.Tolerance() }

// notice describes a push that arrives now.
func (p *heartbeat) notice(now time.Time) notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.pushed = now
	return notice{first: now, last: now, floor: p.known.confirmed}
}

// notice describes a push that arrives now. The first one after a quiet time brings the pings back at once.
func (l *link) notice(now time.Time) notice {
	if l.quiet(l.heartbeat.now(), now) {
		spawn.Wake(l.stirred)
	}
	return l.heartbeat.notice(now)
}

// tracks reports whether every end of the key is pushed.
func (l *link) tracks(k *key) bool { return k.byKey || l.push.tracks(k.name) }

// unpushedUntil is up to when it is proved that no change of k was pushed; zero: since the
// last look.
func (l *link) unpushedUntil(k *key) time.Time {
	confirmed := l.heartbeat.now().confirmed // before the inbox is looked at
	if l.inbox.has(k.name) {
		return time.Time{}
	}
	return confirmed
}

// pingAt is when the read connection is to be pinged: it proves that the server lives where
// there is no other, and servers close connections that they hear nothing from.
func (l *link) pingAt() time.Time {
	if l.push == nil {
		return l.answered.Add(time.Second)
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

// provePushes pings the push connection at once, to prove that no push about a lease that is
// over is on its way, unless some pings wait for their answers.
func (l *link) provePushes(ctx context.Context, now time.Time) error {
	if l.push == nil || !l.heartbeat.now().pingDue(now, patience) {
		return nil
	}
	return l.ping(ctx, l.push)
}

// gathering lets pushes wait for others, so that one round trip reads them all, while nothing but renewals is
// pushed: nobody waits for one. The first that shows something else ends it.
type gathering struct {
	renewals int       // that were seen one after another
	last     time.Time // when something pushed was last read

	counted time.Time // since when keys are counted
	count   int       // of those that were read since
	many    bool      // the second before had manyPushes
}

const (
	gatherAfter = 100                   // renewals, one after another
	gatherFor   = 15 * time.Millisecond // well below sources.Promptness: a change that waits so long is still told at its instant
	manyPushes  = 200                   // a second: fewer are as well read one by one
	nearest     = time.Millisecond      // over a longer round trip a push that waited would be too old
)

// saw takes note of a reading.
func (g *gathering) saw(renewal bool) {
	if g.renewals++; !renewal {
		g.renewals = 0
	}
}

// read takes note that n pushed keys are read now.
func (g *gathering) read(now time.Time, n int) {
	if n > 0 {
		g.last = now
	}
	if g.count += n; now.Sub(g.counted) >= time.Second {
		g.counted, g.count, g.many = now, 0, g.count >= manyPushes
	}
}

// calm reports whether nothing but renewals is pushed.
func (g *gathering) calm() bool { return g.renewals >= gatherAfter }

// unread reports whether messages may stay unread until the next ping.
func (g *gathering) unread() bool { return g.calm() && g.many }

// until is when what is pushed may be read; in the past: at once.
func (g *gathering) until() time.Time {
	if !g.calm() {
		return time.Time{}
	}
	return g.last.Add(gatherFor)
}
