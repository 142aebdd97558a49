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

// Contact has the facts about a server that complete the sentence of a failure. Its texts are not trusted, so that each
// sentence contains them cleaned and cut.
type Contact struct {
	Words
	Where    string        // one or more of host:port, or the path of a socket
	User     string        // "" for the server's default; repeated only if it is plainly a name
	Database string        // its name or number; repeated like User
	Secrets  []string      // masked everywhere, even in texts of the server
	TLS      bool          // we use TLS
	Opening  bool          // the server has not answered yet
	Silence  time.Duration // time-out of an answer; 0: unknown
}

// Words are the words and hints for one kind of server.
type Words struct {
	Product     string // "a Redis server"
	NoTLS       string // advice if the server has no TLS: "write redis:// instead of rediss://"
	OnlyTLS     string // advice if the server has only TLS
	Authority   string // setting for an authority: "tls: {ca: FILE}"
	Certificate string // setting for a certificate of ours
	Password    string // way to give a password: "it with password_env, password_file or in the URL"
	Full        string // the limit of connections: "its maxclients"
}

const (
	longestWhere = 300
	longestSaid  = 300
)

// Problem returns the sentence about failure f with cause err. said is a helpful text of the server or a library about
// it, or "".
func (c *Contact) Problem(f sources.Failure, err error, said string) *sources.Problem {
	s := sentences[f]
	if f == sources.NoAnswer || f == sources.Silent {
		err = errors.Join(err, sources.ErrSilent)
	}
	return &sources.Problem{Text: c.complete(s.text, said), Cause: err, Refused: s.refused, Login: s.login, Failure: f}
}

// mistaken returns the Problem for a server of another product.
func (c *Contact) mistaken(err error, other identify.Product) *sources.Problem {
	if other.Scheme() == "" {
		return c.Problem(sources.Other, err, string(other)+": check "+c.place())
	}
	return c.Problem(sources.Other, err, string(other)+": write "+other.Scheme()+", or check "+c.place())
}

// Unreached returns the Problem of a failure of the network or of TLS, which is the same for every kind of server. It
// returns nil if err is neither.
func (c *Contact) Unreached(err error) error {
	f, said := c.network(err)
	if f == failures {
		return nil
	}
	return c.Problem(f, err, said)
}

// network returns the failure of the network or of TLS, or failures if err is neither.
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

// handshake returns the failure of TLS, or failures if err is none.
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

// place returns the part of the address for a person to check.
func (c *Contact) place() string {
	if strings.HasPrefix(c.Where, "/") {
		return "the path"
	}
	return "host and port"
}

// complete fills in the placeholders of a sentence.
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

// shortestSecret is the length of the shortest secret that is masked, because shorter ones occur in any text.
const shortestSecret = 3

// plainName matches a text that is surely a name, a number or a path of names. Any other user or database may be a part
// of a password in the wrong place of a URL, so that it is not repeated.
var plainName = lazy.Regexp(`^(/?[a-z]{1,12}([/._-][a-z]{1,12}){0,5}|[0-9]{1,5})$`)

// mask replaces our secrets in a foreign text, and names that may be secrets, including their URL encodings.
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

// tidy returns a text as one short, printable line.
func tidy(text string, most int) string {
	if enough := 4 * most; len(text) > enough { // the text may contain line breaks
		text = text[:enough]
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return format.Clean(strings.Join(lines, "; "), most)
}
