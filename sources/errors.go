package sources

import (
	"errors"
	"fmt"
)

// ErrRefused reports that a backend answered and refuses to serve us: a wrong password, a missing right, a version that
// cannot be read. The runner rarely repeats a Connect that returned it.
var ErrRefused = errors.New("refused")

// ErrCredentials reports that a backend refuses our user or password, or requires one. The error also wraps ErrRefused.
var ErrCredentials = errors.New("refused our credentials")

// ErrStillRunning reports that some sources did not end with their context; they end with the process.
var ErrStillRunning = errors.New("some still run")

// ErrSilent reports that a server did not answer in time.
var ErrSilent = errors.New("no answer")

// Problem is an error of a source as a sentence for people that says what to do. It contains no secret.
type Problem struct {
	Text    string
	Cause   error   // the underlying error, which need not be readable by people; may be nil
	Refused bool    // a retry is useless before a person changes something; wraps ErrRefused
	Login   bool    // our user or password is refused; wraps ErrCredentials
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

// Unwrap returns the cause, and ErrRefused and ErrCredentials if they apply.
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

// Recordable returns err in the form that a Hub keeps and records: its text, and whether it is ErrRefused,
// ErrCredentials or ErrSilent. Other causes could not be read back. It returns nil if err is nil.
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

// Failure is a reason, possible with every kind of server, why a server does not serve us. Each has one sentence, which
// a kit.Contact completes.
type Failure uint8

// The failures. Those before Silent are found while connecting.
const (
	NoHost         Failure = iota // no name server knows the host
	NoNameServer                  // no name server answers
	NothingListens                // the port is closed
	NoSocket                      // there is no such Unix socket
	NoRoute                       // packets do not reach the host
	Forbidden                     // our own machine does not allow the connection
	NoAnswer                      // no byte was received
	ClosedAtOnce                  // the connection ends before a byte was received
	Foreign                       // something that is no such server answers
	Other                         // a server of another kind listens there
	Lies                          // the server sends an answer that no such server sends, or that is too costly to read
	NoTLS                         // we speak TLS and the server does not
	OnlyTLS                       // the server speaks only TLS and we do not
	TLSFailed                     // the handshake ends for a reason that only the server knows
	Untrusted                     // the server's certificate is signed by an unknown authority
	BadCertificate                // the server's certificate is not accepted for another reason
	Unopened                      // anything else

	Silent  // no answer any more
	Closed  // the server ended the connection
	Broken  // anything else
	GivenUp // we ended the connection

	NoPassword    // the server requires a password
	WrongPassword // the server refuses our password
	NoSecret      // like NoPassword, if there are no user names
	WrongSecret   // like WrongPassword, if there are no user names
	WrongLogin    // the server refuses credentials of another kind
	NotLetIn      // the server refuses our user, whatever the password
	NoRight       // a right is missing
	NoDatabase    // the server does not have the database
	Full          // the server has no free connection
	NotNow        // the server starts, loads its data, or is overloaded
	Stopping      // the server stops, or our session was ended
	Refuses       // any other error answer
)
