package sources

import (
	"errors"
	"fmt"
)

// ErrRefused reports that a backend answered and will not serve us as we are: a wrong
// password, a missing right, a version that cannot be read. A Connect that wraps it
// is retried rarely.
var ErrRefused = errors.New("refused")

// ErrCredentials reports that a backend refuses our user or password, or the lack
// of one. It comes beside ErrRefused.
var ErrCredentials = errors.New("refused our credentials")

// ErrStillRunning reports sources that did not end with their context: they end with the process.
var ErrStillRunning = errors.New("some still run")

// ErrSilent reports that a server did not answer in time.
var ErrSilent = errors.New("no answer")

// Problem is an error of a source in a sentence for people that says what to do. It holds
// no secret.
type Problem struct {
	Text    string
	Cause   error   // what happened; it may be for programs only, or nil
	Refused bool    // only somebody else can change the outcome: it wraps ErrRefused
	Login   bool    // what is refused is our user or password: it wraps ErrCredentials
	Failure Failure // which one it is, where a kit.Contact found one
}

// Passing returns a Problem of err, which may be nil, that may pass by itself.
func Passing(err error, format string, args ...any) *Problem {
	return &Problem{Text: fmt.Sprintf(format, args...), Cause: err}
}

// Final returns a Problem of err, which may be nil, that only somebody else can change.
func Final(err error, format string, args ...any) *Problem {
	return &Problem{Text: fmt.Sprintf(format, args...), Cause: err, Refused: true}
}

// Error returns the sentence.
func (p *Problem) Error() string { return p.Text }

// Unwrap returns the cause, ErrRefused if trying again is of no use, and ErrCredentials if
// that is why.
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
// ErrRefused, ErrCredentials or ErrSilent. Nothing else of it could be read back. nil: there is none.
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

// Failure is what keeps a server from serving us, where that happens with servers of every
// kind. Each has one sentence, which is completed by a Contact.
type Failure uint8

// The failures. Those up to Unopened are found while connecting.
const (
	NoHost         Failure = iota // its name is known to nobody
	NoNameServer                  // nobody could be asked for its name
	NothingListens                // the port is closed
	NoSocket                      // there is no such Unix socket
	NoRoute                       // packets do not get there
	Forbidden                     // our own machine does not allow it
	NoAnswer                      // nothing was ever heard
	ClosedAtOnce                  // the connection ends before anything was heard
	Foreign                       // something else than such a server answers
	Other                         // a server of another kind listens there
	Lies                          // it says what no such server would, which costs much to read
	NoTLS                         // we speak TLS and the server does not
	OnlyTLS                       // the other way round
	TLSFailed                     // the handshake ends for a reason that only the server knows
	Untrusted                     // its certificate is signed by somebody unknown
	BadCertificate                // its certificate is not good for something else
	Unopened                      // anything else

	Silent  // no answer any more
	Closed  // the server ended the connection
	Broken  // anything else
	GivenUp // by ourselves

	NoPassword    // it wants one
	WrongPassword // the one that we gave
	NoSecret      // NoPassword where there are no users
	WrongSecret   // WrongPassword there
	WrongLogin    // the same of another kind of credentials
	NotLetIn      // our user, whatever the password
	NoRight       // a right is missing
	NoDatabase    // the database that we name
	Full          // it has no connection left
	NotNow        // it starts, reads its data, or has too much to do
	Stopping      // it stops, or somebody ended our session
	Refuses       // anything else that it answers
)
