package kit

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Examiner is a Source that can examine, without being connected, the rights of our user and the way to
// the server.
type Examiner interface {
	// Endpoints returns the addresses that the source connects to, in order. It returns an error if the options, or a
	// file that they name, are wrong.
	Endpoints() ([]Endpoint, error)
	// Examine makes connections of its own and closes them. It writes nothing. The first Check is the login. If the
	// examination ends early, it returns an error like Connect.
	Examine(ctx context.Context) ([]Check, error)
}

// Source has the interfaces that the Source of each kind of server implements.
type Source interface {
	sources.Source
	sources.Focuser
	sources.Refresher
	Examiner
}

// Endpoint is one address of a source.
type Endpoint struct {
	Address  string      // host:port, or the path of a Unix socket
	TLS      *tls.Config // nil without TLS
	Hello    []byte      // sent before TLS begins; a server with TLS answers S; may be nil
	Optional bool        // without TLS the source continues in plain text
}

// Endpoints returns an Endpoint for each address, all with the same TLS.
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
	CheckWarned        // the source can be watched; something is missing, or is worth knowing
	CheckRefused       // our user may not connect, or lacks a right without which nothing is shown
	CheckFailed        // the server cannot be reached or used
)

// String returns "ok", "warn" or "fail".
func (g Grade) String() string { return [...]string{"ok", "warn", "fail", "fail"}[g] }

// MarshalText returns the text of String.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Check is one result of an examination. Texts of the server in it are cleaned.
type Check struct {
	Name  string `json:"check"` // the subject, in one word: "connect", "right"
	Grade Grade  `json:"grade"`
	Text  string `json:"text"`                // the result
	Lost  string `json:"missing,omitempty"`   // lost features; "" if none, or if Text names them
	Fix   string `json:"to_get_it,omitempty"` // the command that repairs it; "" if Text has it or there is none
}

// GradeOf returns the grade of an error of a source.
func GradeOf(err error) Grade {
	if p, ok := errors.AsType[*sources.Problem](err); ok && (p.Login || p.Failure == sources.NoRight) {
		return CheckRefused
	}
	return CheckFailed
}

// CheckClock compares a server's clock, read between sent and got, with ours.
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
