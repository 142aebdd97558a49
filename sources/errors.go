package sources

import (
	"errors"
	"fmt"
)

// ErrRefused reports that a backend answered and refuses to serve us: a wrong password, a
// missing right, a version that cannot be read. A Connect with such an error is retried rarely.
var ErrRefused = errors.New("refused")

// ErrCredentials reports that a backend refuses our user or password, or the lack
// of one. It comes beside ErrRefused.
var ErrCredentials = errors.New("refused our credentials")

// ErrStillRunning reports that some sources did not end with their context; they end with the process.
var ErrStillRunning = errors.New("some still run")

// ErrSilent reports that a server did not answer in time.
var ErrSilent = errors.New("no answer")

// Problem is an error of a source as a sentence for people, with what to do. It holds
// no secret.
type Problem struct {
	Text    string
	Cause   error   // the error behind it, which may be for programs only; may be nil
	Refused bool    // a retry is useless before a person changes something: it wraps ErrRefused
	Login   bool    // our user or password is refused: it wraps ErrCredentials
	Failure Failure // set by a kit.Contact
}

// Passing returns a Problem that may pass by itself. err may be nil.
func Passing(err error, format string, args ...any) *Problem {
	return &Problem{Text: fmt.Sprintf(format, args...), Cause: err}
}

// Final returns a Problem that lasts until a person changes something. err may be nil.
func Final(err error, format string, args ...any) *Problem {
	return &Problem{Text: fmt.Sprintf(format, args...), Cause: err, Refused: true}
}

// Error returns the sentence.
func (p *Problem) Error() string { return p.Text }

// Unwrap returns the cause, and ErrRefused and ErrCredentials where they apply.
func (p *Problem) Unwrap() []error {
	var list []error
	if p.Cause != nil {
		list = append(list, p.Cause)
	}
	if p.Refused {
		list = append(list, ErrRefused)
	}
	if p.Login {
		list = append(list, ErrCredentials)
	}
	return list
}

// Recordable returns err as a Hub keeps and records it: its text, and whether it is
// ErrRefused, ErrCredentials or ErrSilent. The rest could not be read back. nil: err is nil.
func Recordable(err error) *Problem {
	if err == nil {
		return nil
	}
	p := &Problem{Text: err.Error(), Refused: errors.Is(err, ErrRefused), Login: errors.Is(err, ErrCredentials)}
	if errors.Is(err, ErrSilent) {
		p.Cause = ErrSilent
	}
	return p
}

// Failure is a reason why a server does not serve us that every kind of server can have. Each has
// one sentence, which a kit.Contact completes.
type Failure uint8

// The failures. Those up to Unopened are found while connecting.
const (
	NoHost         Failure = iota // no name server knows its name
	NoNameServer                  // no name server answers
	NothingListens                // the port is closed
	NoSocket                      // there is no such Unix socket
	NoRoute                       // packets do not get there
	Forbidden                     // our own machine does not allow it
	NoAnswer                      // no byte was received
	ClosedAtOnce                  // the connection ends before a byte was received
	Foreign                       // something else than such a server answers
	Other                         // a server of another kind listens there
	Lies                          // it sends an answer that no such server sends, or that is costly to read
	NoTLS                         // we speak TLS and the server does not
	OnlyTLS                       // the other way round
	TLSFailed                     // the handshake ends for a reason that only the server knows
	Untrusted                     // its certificate is signed by an unknown authority
	BadCertificate                // its certificate is not accepted for another reason
	Unopened                      // anything else

	Silent  // no answer any more
	Closed  // the server ended the connection
	Broken  // anything else
	GivenUp // by ourselves

	NoPassword    // it wants a password
	WrongPassword // it refuses our password
	NoSecret      // NoPassword where there are no users
	WrongSecret   // WrongPassword where there are no users
	WrongLogin    // it refuses credentials of another kind
	NotLetIn      // it refuses our user, whatever the password
	NoRight       // a right is missing
	NoDatabase    // it does not have the database
	Full          // it has no connection left
	NotNow        // it starts, loads its data, or is overloaded
	Stopping      // it stops, or our session was ended
	Refuses       // any other error answer
)
