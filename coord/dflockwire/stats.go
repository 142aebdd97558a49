package dflockwire

import (
	"bufio"
	"context"
	"time"
)

// Stats are a server's statistics about itself, see the package's comment.
type Stats struct {
	Asked       time.Time
	Answered    time.Time // time at which the answer began to arrive; the server had composed it by then
	Connections int
	Signals     bool // it lists signals, as versions 1.11 to 1.16 do
}

// Entry is one key that a server lists.
type Entry struct {
	Key       []byte // valid only during the call
	Semaphore bool   // its limit is more than 1
	Idle      bool   // nobody uses it; of the fields below only Unused is set
	Limit     int
	Taken     int
	Waiters   int
	Owner     uint64        // id of the connection that owns a lock; 0: nobody
	Fence     uint64        // of a lock, if the server reports it; else 0
	Left      time.Duration // of the lease of a lock; 0: it has expired, or there is no owner
	Unused    time.Duration // time since the last use
}

// mostStats bounds the bytes of an answer to stats, which is never kept as a whole.
const mostStats = 128 << 20

// Stats requests the listing of all keys, and calls each for each key as the answer arrives. After an error the listing
// is incomplete, and the caller must discard it. The Entry is valid only during the call.
func (c *Conn) Stats(ctx context.Context, each func(*Entry)) (s Stats, err error) {
	s.Asked, s.Answered, err = c.request(ctx, c.patience, "stats", "_", "", func(r *bufio.Reader) error { return s.take(r, each) })
	return s, err
}

// take reads an answer to stats.
func (s *Stats) take(r *bufio.Reader, each func(*Entry)) error {
	in := scanner{r: r, left: mostStats}
	if status := string(in.word()); status != "ok" {
		err := refusal(status)
		if in.expect('\n'); err != nil {
			in.fail(err)
		}
		in.fail(unexpected("the answer to the command stats"))
		return in.err
	}
	s.read(&in, each)
	in.expect('\n')
	return in.err
}

// read reads the object of an answer. It refuses listings that no server sends: those with negative numbers or without
// connections.
func (s *Stats) read(in *scanner, each func(*Entry)) {
	var e Entry
	entries := func(kind Entry) {
		in.list(func() {
			kind.Key = e.Key[:0]
			e = kind
			e.read(in)
			if in.err == nil {
				each(&e)
			}
		})
	}
	s.Connections = -1
	in.object(func(name []byte) {
		switch string(name) {
		case "connections":
			s.Connections = in.count()
		case "locks":
			entries(Entry{Limit: 1})
		case "semaphores":
			entries(Entry{Semaphore: true})
		case "idle_locks":
			entries(Entry{Limit: 1, Idle: true})
		case "idle_semaphores":
			entries(Entry{Semaphore: true, Idle: true})
		case "signal_channels":
			s.Signals = true
			in.skip(0)
		default:
			in.skip(0)
		}
	})
	if s.Connections < 0 {
		in.malformed()
	}
}

func (e *Entry) read(in *scanner) {
	in.object(func(name []byte) {
		switch string(name) {
		case "key":
			in.expect('"')
			e.Key = append(e.Key, in.string()...)
		case "owner_conn_id":
			e.Owner = in.unsigned()
			e.Taken = int(min(e.Owner, 1))
		case "fence":
			e.Fence = in.unsigned()
		case "lease_expires_in_s":
			e.Left = in.seconds()
		case "idle_s":
			e.Unused = in.seconds()
		case "waiters":
			e.Waiters = in.count()
		case "limit":
			e.Limit = in.count()
		case "holders":
			e.Taken = in.count()
		default:
			in.skip(0)
		}
	})
	if e.Limit < 1 && !e.Idle {
		in.malformed()
	}
}
