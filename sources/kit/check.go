package kit

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Examiner is a Source that can be examined while it is not connected: what our user may do, and what
// stands between us and the server.
type Examiner interface {
	// Endpoints are the addresses that the source connects to, in their order. An error is about
	// the options, or a file that they name.
	Endpoints() ([]Endpoint, error)
	// Examine connects by itself, and closes what it made. Nothing is written. The first Check is
	// that the server lets us in. The error says, as that of Connect, why no more was found out.
	Examine(ctx context.Context) ([]Check, error)
}

// Endpoint is one address of a source.
type Endpoint struct {
	Address  string      // host:port, or the path of a Unix socket
	TLS      *tls.Config // nil: none is used
	Hello    []byte      // sent before TLS begins, and answered by S where the server has it; nil: nothing is
	Optional bool        // where the server has no TLS, it goes on in plain text
}

// Endpoints makes an Endpoint of each address, all with the same TLS.
func Endpoints(config *tls.Config, addresses ...string) (list []Endpoint) {
	for _, address := range addresses {
		list = append(list, Endpoint{Address: address, TLS: config})
	}
	return list
}

// Grade is the result of a Check.
type Grade uint8

// The grades, from good to bad.
const (
	CheckPassed  Grade = iota
	CheckWarned        // the source can be watched; something is missing, or worth to know
	CheckRefused       // our user is not let in, or lacks a right without which nothing is shown
	CheckFailed        // the server cannot be reached, or not be used
)

// String returns "ok", "warn" or "fail".
func (g Grade) String() string { return [...]string{"ok", "warn", "fail", "fail"}[g] }

// MarshalText returns what String returns.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Check is one thing that an examination found out. What a server says in it is cleaned.
type Check struct {
	Name  string `json:"check"` // what was looked at, in a word: "connect", "right"
	Grade Grade  `json:"grade"`
	Text  string `json:"text"`                // what was found
	Lost  string `json:"missing,omitempty"`   // what is not shown, or cannot be done, because of it; "": nothing, or Text says it
	Fix   string `json:"to_get_it,omitempty"` // the command that would give it; "": Text says it, or there is none
}

// GradeOf is the grade of an error of a source.
func GradeOf(err error) Grade {
	if p, ok := errors.AsType[*sources.Problem](err); ok && (p.Login || p.Failure == sources.NoRight) {
		return CheckRefused
	}
	return CheckFailed
}

// CheckClock compares the clock of a server, which was read between sent and got, with ours.
func CheckClock(server, sent, got time.Time) Check {
	within := got.Sub(sent) / 2
	ahead := server.Sub(sent.Add(within))
	c := Check{Name: "clock", Text: "the server's differs from ours by less than " + format.Precise(max(ahead.Abs()+within, 100*time.Microsecond))}
	if ahead.Abs() > within+time.Second {
		c.Grade, c.Text = CheckWarned, "the server's is behind ours by "
		if ahead > 0 {
			c.Text = "the server's is ahead of ours by "
		}
		c.Text += format.Precise(ahead.Abs()) + ", to within " + format.Precise(within) + ": set both by NTP"
	}
	return c
}
