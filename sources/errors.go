package sources

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// ErrRefused says that a backend answered and will not serve us as we are: a wrong
// password, a missing right, a version that cannot be read. A Connect that wraps it
// is retried rarely.
var ErrRefused = errors.New("refused")

// ErrCredentials says that it is our user or password that a backend refuses, or the lack
// of one. It comes beside ErrRefused.
var ErrCredentials = errors.New("refused our credentials")

// Problem is an error of a source in a sentence for people that says what to do. It holds
// no secret.
type Problem struct {
	Text    string
	Cause   error // what happened; it may be for programs only
	Refused bool  // only somebody else can change the outcome: it wraps ErrRefused
	Login   bool  // what is refused is our user or password: it wraps ErrCredentials
}

// Error returns the sentence.
func (p *Problem) Error() string { return p.Text }

// Unwrap returns the cause, ErrRefused if trying again is of no use, and ErrCredentials if
// that is why.
func (p *Problem) Unwrap() []error {
	list := []error{p.Cause}
	if p.Refused {
		list = append(list, ErrRefused)
	}
	if p.Login {
		list = append(list, ErrCredentials)
	}
	return list
}

// Advice completes the sentences of Unreached with the words of one kind of source.
type Advice struct {
	NoTLS     string // what to do where the server speaks no TLS: "see sslmode"
	Authority string // where to name an authority: "sslrootcert"
}

// Unreached is the Problem of an err that kept a source from where, as far as network and
// certificates are to blame in the same way for every backend; else nil.
func Unreached(err error, where string, a Advice) error {
	var dns *net.DNSError
	var plain tls.RecordHeaderError
	var bad *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	p := &Problem{Cause: err}
	switch {
	case errors.As(err, &dns):
		p.Text = fmt.Sprintf("there is no host %q: check its spelling, or the name server", dns.Name)
	case errors.As(err, &plain):
		p.Text, p.Refused = fmt.Sprintf("the server at %s speaks no TLS: %s", where, a.NoTLS), true
	case errors.As(err, &unknown):
		p.Text, p.Refused = fmt.Sprintf("the certificate of %s is signed by an authority that is not trusted: name it with %s", where, a.Authority), true
	case errors.As(err, &bad):
		p.Text, p.Refused = fmt.Sprintf("the certificate of %s is not accepted: %v", where, bad.Err), true
	case errors.Is(err, syscall.ECONNREFUSED):
		p.Text = fmt.Sprintf("nothing listens at %s: check host and port, and whether the server runs", where)
	default:
		return nil
	}
	return p
}

// HungUp reports whether err says that the other side, or we, ended the connection.
func HungUp(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}
