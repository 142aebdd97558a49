package kit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/identify"
	"coordtop/internal/ground/lazy"
	"coordtop/internal/ground/mask"
	"coordtop/sources"
)

// Contact is what we know of a server when something fails: the words that complete the
// sentences of failures. Everything in it may come from anywhere: it is cleaned and cut.
type Contact struct {
	Words
	Where    string        // host and port, or several, or the path of a socket
	User     string        // "": the server's default; repeated only where it is plainly a name
	Database string        // its name or number; as User
	Secrets  []string      // are never repeated, also where the server repeats them
	TLS      bool          // we speak it
	Opening  bool          // the server has not answered yet
	Silence  time.Duration // how long an answer was waited for; 0: not known
}

// Words are those of one kind of server.
type Words struct {
	Product     string // "a Redis server"
	NoTLS       string // what to do where the server speaks no TLS: "write redis:// instead of rediss://"
	OnlyTLS     string // what to do where it speaks nothing else
	Authority   string // where an authority is named: "tls: {ca: FILE}"
	Certificate string // where a certificate of ours is named
	Password    string // what to give: "it with password_env, password_file or in the URL"
	Full        string // what limits connections: "its maxclients"
}

const (
	longestWhere = 300
	longestWord  = 100
	longestSaid  = 300
)

// Problem is the sentence about a failure that err tells. said is what the server, or a
// library, said of it; "": nothing that helps.
func (c *Contact) Problem(f sources.Failure, err error, said string) *sources.Problem {
	s := sentences[f]
	if f == sources.NoAnswer || f == sources.Silent {
		err = errors.Join(err, sources.ErrSilent)
	}
	return &sources.Problem{Text: c.complete(s.text, said), Cause: err, Refused: s.refused, Login: s.login, Failure: f}
}

// mistaken is the Problem of an err by a server that is another one than ours.
func (c *Contact) mistaken(err error, other identify.Product) *sources.Problem {
	if other.Scheme() == "" {
		return c.Problem(sources.Other, err, string(other)+": check "+c.place())
	}
	return c.Problem(sources.Other, err, string(other)+": write "+other.Scheme()+", or check "+c.place())
}

// Unreached is the Problem of an err by which a server was not reached, or was lost, as far
// as networks and certificates are to blame, which is the same for every kind of server;
// else nil.
func (c *Contact) Unreached(err error) error {
	f, said := c.network(err)
	if f == failures {
		return nil
	}
	return c.Problem(f, err, said)
}

// network finds the failure of a network or of TLS; failures: err is about neither.
func (c *Contact) network(err error) (f sources.Failure, said string) {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && (dns.IsTimeout || dns.IsTemporary) && !dns.IsNotFound:
		return sources.NoNameServer, ""
	case errors.As(err, &dns):
		return sources.NoHost, ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return sources.NothingListens, ""
	case errors.Is(err, syscall.ENOENT):
		return sources.NoSocket, ""
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		return sources.NoRoute, ""
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return sources.Forbidden, ""
	}
	if f, said := handshake(err); f != failures {
		return f, said
	}
	switch {
	case silent(err) && c.Opening:
		return sources.NoAnswer, ""
	case silent(err):
		return sources.Silent, ""
	case errors.Is(err, context.Canceled), errors.Is(err, ErrClosed):
		return sources.GivenUp, ""
	case HungUp(err) && c.Opening && c.TLS:
		return sources.TLSFailed, ""
	case HungUp(err) && c.Opening:
		return sources.ClosedAtOnce, ""
	case HungUp(err):
		return sources.Closed, ""
	case errors.As(err, &op) && c.Opening:
		return sources.Unopened, op.Err.Error()
	case errors.As(err, &op):
		return sources.Broken, op.Err.Error()
	}
	return failures, ""
}

// handshake finds the failure of TLS; failures: err is not about it.
func handshake(err error) (f sources.Failure, said string) {
	var plain tls.RecordHeaderError
	var bad *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var alert tls.AlertError
	var op *net.OpError
	switch {
	case errors.As(err, &plain):
		return sources.NoTLS, ""
	case errors.As(err, &unknown):
		return sources.Untrusted, ""
	case errors.As(err, &bad):
		return sources.BadCertificate, bad.Err.Error()
	case errors.As(err, &alert):
		return sources.TLSFailed, alert.Error()
	case errors.As(err, &op) && op.Op == "remote error": // an alert of the server
		return sources.TLSFailed, op.Err.Error()
	}
	return failures, ""
}

// silent reports whether err means that no answer came in time.
func silent(err error) bool {
	var timeout net.Error
	return errors.Is(err, sources.ErrSilent) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// HungUp reports whether err means that the other side, or we, ended the connection.
func HungUp(err error) bool {
	return failure.IsAny(err, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed)
}

// place is what to check of an address.
func (c *Contact) place() string {
	if strings.HasPrefix(c.Where, "/") {
		return "the path"
	}
	return "host and port"
}

// complete puts the words into a sentence.
func (c *Contact) complete(text, said string) string {
	where, said := tidy(c.Where, longestWhere), tidy(c.mask(said), longestSaid)
	user, database := "our user", "by the name that is given"
	named := plainName().MatchString(c.User)
	if named {
		user = c.User
	}
	if plainName().MatchString(c.Database) {
		database = c.Database
	}
	when := func(so bool, text string) string {
		if !so {
			return ""
		}
		return text
	}
	return strings.NewReplacer(
		"{where}", where, "{place}", c.place(), "{user}", user, "{of user}", when(named, " for "+user), "{database}", database,
		"{said}", said, "{(said)}", when(said != "", " ("+said+")"), "{for so long}", when(c.Silence > 0, fmt.Sprintf(" for %v", c.Silence)),
		"{product}", c.Product, "{no TLS}", c.NoTLS, "{only TLS}", c.OnlyTLS,
		"{with TLS}", when(c.TLS, " and speaks TLS (else "+c.NoTLS+")"), "{want TLS}", when(!c.TLS && c.OnlyTLS != "", "want TLS ("+c.OnlyTLS+"), "),
		"{authority}", c.Authority, "{certificate}", c.Certificate, "{password}", c.Password, "{full}", c.Full,
	).Replace(text)
}

// shortestSecret is what is masked: the letters of a shorter one are everywhere.
const shortestSecret = 3

// plainName is what only a name looks like, or a number or a path of names. A user or a
// database that looks otherwise may be a password, or a part of one, in the wrong place of a
// URL: it is not repeated.
var plainName = lazy.Regexp(`^(/?[a-z]{1,12}([/._-][a-z]{1,12}){0,5}|[0-9]{1,5})$`)

// mask takes our secrets out of a text of somebody else, in the forms that a URL has too, and
// what may be one.
func (c *Contact) mask(text string) string {
	secrets := slices.Clone(c.Secrets)
	for _, name := range []string{c.User, strings.TrimPrefix(c.Database, "/")} {
		if !plainName().MatchString(name) {
			secrets = append(secrets, name)
		}
	}
	for _, secret := range secrets {
		if len(secret) < shortestSecret {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			text = strings.ReplaceAll(text, form, mask.Sign)
		}
	}
	return text
}

// tidy is a text as one short line that can be printed.
func tidy(text string, most int) string {
	if enough := 4 * most; len(text) > enough { // there may be line breaks in it
		text = text[:enough]
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return format.Clean(strings.Join(lines, "; "), most)
}
