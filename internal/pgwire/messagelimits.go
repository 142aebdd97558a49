package pgwire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Errors about what a server sends. The connection is over after them.
var (
	// ErrForeign: what came is no message of Postgres'.
	ErrForeign = errors.New("what answers does not speak the protocol of Postgres")
	// ErrFlood: the server sends more than Postgres would. It is in every *Excess.
	ErrFlood = errors.New("the server sent more than a Postgres would")
)

// Excess is an ErrFlood that says what there was too much of.
type Excess struct{ What string }

// Error is a line.
func (e *Excess) Error() string { return ErrFlood.Error() + ": " + e.What }

// Unwrap returns ErrFlood.
func (e *Excess) Unwrap() error { return ErrFlood }

func excess(what string, args ...any) error { return &Excess{fmt.Sprintf(what, args...)} }

const (
	rowLimit      = 1 << 20  // of a row; the longest column that we ask for is cut at 2 kB
	controlLimit  = 64 << 10 // of any other message
	textKept      = 16 << 10 // of an error or a notice, the rest of which is dropped
	statusKept    = 1 << 10  // of a parameter of the server
	answerLimit   = 16 << 20 // of an answer; 10,000 locks make 0.9 MB
	startLimit    = 1 << 20  // of all that comes before the login is done
	unaskedLimit  = 16 << 20 // of what comes by itself in unaskedTime
	unaskedTime   = 10 * time.Second
	mostScramIter = 1_000_000 // 4096 is usual; a million costs a third of a second
)

// traffic is what is known of the messages that pass. Reading and writing are two
// goroutines at most.
type traffic struct {
	raw     atomic.Int64 // bytes that came since the last answer, or within unaskedTime
	pending atomic.Int64 // questions without an answer
	lent    atomic.Bool  // the server session may be used by others, too
	gate    sync.Mutex   // no question is sent while it is decided how soon one may be interrupted

	started bool      // the login is done
	spoken  bool      // a message has come
	answer  int       // bytes of the answer under way
	unasked int       // bytes that nobody asked for
	since   time.Time // when those began to be counted
}

// reset is for another host.
func (t *traffic) reset() {
	t.raw.Store(0)
	t.pending.Store(0)
	t.lent.Store(true)
	t.started, t.spoken, t.answer, t.unasked = false, false, 0, 0
}

// ask takes note of a question that is about to be sent.
func (t *traffic) ask() {
	t.gate.Lock()
	defer t.gate.Unlock()
	t.pending.Add(1)
}

// delicate reports whether closing the connection now could end a server session that
// others use.
func (t *traffic) delicate() bool { return t.lent.Load() && t.pending.Load() > 0 }

// handling is what becomes of the body of a message.
type handling uint8

const (
	passed  handling = iota // as it comes
	cut                     // the first textKept bytes of it
	checked                 // collected, at most textKept bytes, and passed if it is needed
)

// header decides about a message of type kind whose body has n bytes.
func (t *traffic) header(kind byte, n int) (handling, error) {
	first := !t.spoken
	t.spoken = true
	f, limit := passed, controlLimit
	switch kind {
	case 'D':
		limit = rowLimit
	case 'E', 'N':
		f, limit = cut, 1<<30
	case 'R', 'S':
		f = checked
	case 'A', 'C', 'I', 'K', 'T', 'Z', 'n', 's', 't', 'v', '1', '2', '3':
	default:
		return f, fmt.Errorf("%w (a message of type %q)", ErrForeign, kind)
	}
	switch {
	case first && !strings.ContainsRune("REv", rune(kind)), n < 0:
		return f, ErrForeign
	case n > limit && first:
		return f, ErrForeign
	case n > limit:
		return f, excess("a message of %d bytes (type %q)", n, kind)
	case f == checked && n > textKept:
		return f, excess("%d bytes about the session (type %q)", n, kind)
	}
	return f, nil
}

// count takes note of n bytes of a message of type kind.
func (t *traffic) count(kind byte, n int) error {
	switch {
	case !t.started:
		if t.answer += n; t.answer > startLimit {
			return excess("over %d MB before the login was done", startLimit>>20)
		}
	case t.pending.Load() > 0 && kind != 'A' && kind != 'N' && kind != 'S':
		if t.answer += n; t.answer > answerLimit {
			return excess("an answer of over %d MB", answerLimit>>20)
		}
	default:
		now := time.Now()
		if now.Sub(t.since) > unaskedTime {
			t.since, t.unasked = now, 0
			t.raw.Store(0)
		}
		if t.unasked += n; t.unasked > unaskedLimit {
			return excess("over %d MB that nobody asked for", unaskedLimit>>20)
		}
	}
	return nil
}

// end takes note of a whole message. keep is false for one that is to be dropped; body is
// there if it was collected.
func (t *traffic) end(kind byte, body []byte) (keep bool, err error) {
	switch kind {
	case 'Z':
		t.started, t.answer = true, 0
		t.raw.Store(0)
		if t.pending.Load() > 0 {
			t.pending.Add(-1)
		}
	case 'R':
		return true, checkLogin(body)
	case 'S':
		name, value, _ := strings.Cut(string(body), "\x00")
		return neededStatus(name) && len(value) <= statusKept, nil
	}
	return true, nil
}

// neededStatus names the parameters of the server that the library or we read.
func neededStatus(name string) bool {
	switch name {
	case "server_version", "client_encoding", "standard_conforming_strings", "in_hot_standby":
		return true
	}
	return false
}

// saslContinue is the type of the message that says how the password is to be hashed.
const saslContinue = "\x00\x00\x00\x0b"

// checkLogin refuses a SCRAM login that would keep the processor busy for minutes: the
// server says how often the password is hashed, and nothing interrupts that.
func checkLogin(body []byte) error {
	text, ok := strings.CutPrefix(string(body), saslContinue)
	if !ok {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		digits, ok := strings.CutPrefix(part, "i=")
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(digits); err != nil || n > mostScramIter {
			return excess("a login that hashes the password %.20s times (at most %d will do)", digits, mostScramIter)
		}
	}
	return nil
}
