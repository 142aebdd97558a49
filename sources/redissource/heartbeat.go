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

// heartbeat tracks the pings of a connection and their answers, which prove until when its pushes are complete. The
// server answers in order, so that when a ping is answered, every push of a change before the ping was sent has
// arrived. It is safe for concurrent use.
type heartbeat struct {
	mu    sync.Mutex
	known pulse
}

// pulse is the state of a heartbeat at one instant.
type pulse struct {
	outstanding []time.Time // when the unanswered pings were sent, oldest first
	confirmed   time.Time   // when the newest answered ping was sent
	heard       time.Time   // arrival of that answer
	told        time.Time   // the last report that the server answers, see tellAlive
	pushed      time.Time   // the last push; zero before the first
	roundTrip   time.Duration
	trips       kit.RoundTrips
	gathers     bool // messages stay unread until the next ping, see gathering
	unmeasured  int  // number of the oldest outstanding pings that measure nothing, because their answers stay unread for a while
}

// now returns the present state.
func (p *heartbeat) now() pulse {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

// reset forgets a connection that was closed.
func (p *heartbeat) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = pulse{}
}

// gather sets whether messages stay unread until the next ping, and returns the new value, which is always false if the
// server is far away.
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

// confirm notes the answer to a command that was no ping. Its round trip counts only if it is the shortest, because the
// server may have worked on the command.
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

// tellAlive reports whether to report now that the server answers, about once in every. It tolerates an eighth less,
// because the answers to such pings may be a little closer to each other.
func (p *heartbeat) tellAlive(now time.Time, every time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.known.told) < every-every/8 {
		return false
	}
	p.known.told = now
	return true
}

// pingPause is the pause between two pings. It bounds how late a push can be without being noticed, and how long
// messages stay unread while pushes are gathered, so it is below sources.Promptness. For a distant server the pause is
// longer. While nothing happens, one ping a second is enough; the first change after that is timed to within a second.
const pingPause = 20 * time.Millisecond

// pause returns the pause before the next ping, which is at most longest.
func (p pulse) pause(quiet bool, now time.Time, longest time.Duration) time.Duration {
	usual := pingPause
	if quiet {
		usual = backoff.UntilTurn(now)
	}
	return min(max(usual, 2*p.trips.Shortest()), longest)
}

// focusHints are Hints that also keep the time of the last Focus.
type focusHints struct {
	kit.Hints
	focused atomic.Pointer[time.Time] // nil before the first
}

// Focus implements sources.Focuser.
func (h *focusHints) Focus(visible []sources.Ref, selected sources.Ref) {
	now := time.Now()
	h.focused.Store(&now)
	h.Hints.Focus(visible, selected)
}

// quiet reports whether there was neither a push nor a Focus for Options.Quiet.
func (l *link) quiet(p pulse, now time.Time) bool {
	last := sources.Later(l.began, p.pushed)
	if at := l.hints.focused.Load(); at != nil {
		last = sources.Later(last, *at)
	}
	return now.Sub(last) >= l.o.Quiet
}

// pingDue reports whether to send a ping. While one waits for its answer, the next is sent only after the pause
// longest, so that a stalled link does not fill up.
func (p pulse) pingDue(now time.Time, longest time.Duration) bool {
	n := len(p.outstanding)
	return n == 0 || n == 1 && p.gathers || now.Sub(p.outstanding[n-1]) >= longest
}

// silence returns the time since the last answer, while a ping has no answer; else 0.
func (p pulse) silence(now time.Time) time.Duration {
	switch {
	case len(p.outstanding) == 0:
		return 0
	case p.heard.IsZero():
		return now.Sub(p.outstanding[0])
	}
	return now.Sub(p.heard)
}

// tolerance returns the longest time that a prompt link takes for a push or a read.
func (p pulse) tolerance() time.Duration { return p.trips.Tolerance() }

// notice describes a push that arrives now.
func (p *heartbeat) notice(now time.Time) notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.pushed = now
	return notice{first: now, last: now, floor: p.known.confirmed}
}

// notice describes a push that arrives now. The first one after a quiet time resumes the fast pings at once.
func (l *link) notice(now time.Time) notice {
	if l.quiet(l.heartbeat.now(), now) {
		spawn.Wake(l.stirred)
	}
	return l.heartbeat.notice(now)
}

// tracks reports whether every end of the key is pushed.
func (l *link) tracks(k *key) bool { return k.byKey || l.push.tracks(k.name) }

// unpushedUntil returns the time until which a ping proves that no change of k was pushed. It returns zero if a push
// about k waits to be handled.
func (l *link) unpushedUntil(k *key) time.Time {
	confirmed := l.heartbeat.now().confirmed // must be read before the inbox
	if l.inbox.has(k.name) {
		return time.Time{}
	}
	return confirmed
}

// pingAt returns the time of the next ping on the read connection. Without a push connection the ping proves that the
// server is alive; otherwise it keeps the server from closing an idle connection.
func (l *link) pingAt() time.Time {
	if l.push == nil {
		return l.answered.Add(time.Second)
	}
	return l.answered.Add(10 * time.Second)
}

// pingReads pings the read connection to prove that the server is alive.
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

// readAnswered notes that a command on the read connection, sent at the time sent, was answered now.
func (l *link) readAnswered(sent time.Time) {
	l.answered = time.Now()
	l.readHeartbeat.confirm(sent, l.answered)
	if l.readHeartbeat.tellAlive(l.answered, l.pingLimit()) {
		l.Answered(l.answered)
	}
}

// provePushes pings the push connection at once, unless pings wait for their answers. The answer proves that no push
// about an ended lease is still to arrive.
func (l *link) provePushes(ctx context.Context, now time.Time) error {
	if l.push == nil || !l.heartbeat.now().pingDue(now, patience) {
		return nil
	}
	return l.ping(ctx, l.push)
}

// gathering lets pushes wait for others while only renewals are pushed, so that one round trip reads them all, because
// nobody waits for a renewal. The first push that shows something else ends this.
type gathering struct {
	renewals int       // consecutive ones
	last     time.Time // the last read of pushed keys

	counted time.Time // start of the second for which count counts
	count   int       // pushed keys read in that second
	many    bool      // the last second had manyPushes
}

const (
	gatherAfter = 100                   // consecutive renewals
	gatherFor   = 15 * time.Millisecond // well below sources.Promptness: a change that waits this long keeps its instant
	manyPushes  = 200                   // a second; gathering fewer saves nothing
	nearest     = time.Millisecond      // over a longer round trip a push that waited would be too old
)

// saw counts a reading.
func (g *gathering) saw(renewal bool) {
	if g.renewals++; !renewal {
		g.renewals = 0
	}
}

// read counts n pushed keys read now.
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

// until returns the time before which pushes are not read; it may have passed.
func (g *gathering) until() time.Time {
	if !g.calm() {
		return time.Time{}
	}
	return g.last.Add(gatherFor)
}
