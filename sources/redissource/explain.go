package redissource

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
)

var (
	errCluster = errors.New("cluster")
	errNoScan  = errors.New("no right to scan")
	errNoRead  = errors.New("no right to read")
)

// roleError says that a failover made another server of this one.
type roleError struct{ was, is string }

// Error names both roles.
func (e *roleError) Error() string {
	return fmt.Sprintf("the server was a %s and is a %s now", e.was, e.is)
}

// problem is an error in a sentence that says what to do. It holds no secret.
type problem struct {
	text    string
	cause   error
	refused bool
}

// Error returns the sentence.
func (p *problem) Error() string { return p.text }

// Unwrap returns the cause, and sources.ErrRefused if trying again is of no use.
func (p *problem) Unwrap() []error {
	if p.refused {
		return []error{p.cause, sources.ErrRefused}
	}
	return []error{p.cause}
}

// explain turns an error into a sentence. opening is false once the server had answered.
func explain(err error, o rediscoord.ClientOptions, silence time.Duration, opening bool) error {
	if err == nil || errors.As(err, new(*problem)) {
		return err
	}
	where := strings.Join(o.Addrs, ", ")
	final := func(format string, args ...any) error {
		return &problem{text: fmt.Sprintf(format, args...), cause: err, refused: true}
	}
	passing := func(format string, args ...any) error {
		return &problem{text: fmt.Sprintf(format, args...), cause: err}
	}
	var db *selectError
	var role *roleError
	var said redis.Error
	switch {
	case errors.Is(err, errCluster):
		return final("a cluster cannot be watched as a whole yet: name its masters one by one, each as redis://host:port")
	case errors.Is(err, errNoScan):
		return final("the user may not scan for patterns: give it +scan, or name each key")
	case errors.Is(err, errNoRead):
		return final("the user may not read the selected keys: give it +pttl +strlen +getrange and %%R~ with their names")
	case errors.Is(err, sources.ErrPanic):
		return err
	case errors.Is(err, errElsewhere):
		return passing("%s leads to more than one server: give the address of one", where)
	case errors.As(err, &role):
		return passing("%s", role.Error())
	case o.Topology == rediscoord.Sentinel && opening && errors.Is(err, redis.Nil):
		return final("the Sentinels at %s know no master %q: check the name behind the hosts", where, o.Master)
	case errors.As(err, &db) && errors.As(err, &said) && !redis.IsAuthError(err) && !redis.IsPermissionError(err):
		return final("the server at %s has no database %d: check the number at the end of the URL", where, o.DB)
	case errors.As(err, &said):
		return explainReply(err, said, where, o.Password != "", final, passing)
	}
	return explainLink(err, where, o.TLS != nil, silence, opening, final, passing)
}

type sentence func(format string, args ...any) error

// explainReply is about what the server answered.
func explainReply(err error, said redis.Error, where string, password bool, final, passing sentence) error {
	switch {
	case redis.HasErrorPrefix(err, "WRONGPASS"):
		return final("the server at %s refuses this user or password: check both", where)
	case redis.IsAuthError(err) && !password:
		return final("the server at %s wants a password: give it with password_env, password_file or in the URL", where)
	case redis.IsAuthError(err):
		return final("the server at %s refuses the login: check user and password", where)
	case redis.IsPermissionError(err):
		return final("a right is missing at %s: %s", where, said.Error())
	case redis.IsLoadingError(err):
		return passing("the server at %s is still loading its data", where)
	case redis.IsMasterDownError(err):
		return passing("the replica at %s has lost its master and gives no answers", where)
	case redis.IsMaxClientsError(err):
		return passing("the server at %s has no connection left for us: see its maxclients", where)
	}
	return passing("the server at %s refuses: %s", where, said.Error())
}

// explainLink is about what kept an answer from coming.
func explainLink(err error, where string, encrypted bool, silence time.Duration, opening bool, final, passing sentence) error {
	var dns *net.DNSError
	var op *net.OpError
	var plain tls.RecordHeaderError
	var bad *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return passing("there is no host %q: check its spelling, or the name server", dns.Name)
	case errors.As(err, &plain):
		return final("the server at %s speaks no TLS: write redis:// and not rediss://", where)
	case errors.As(err, &unknown):
		return final("the certificate of %s is signed by an authority that is not trusted: name it with tls: {ca: FILE}", where)
	case errors.As(err, &bad):
		return final("the certificate of %s is not accepted: %v", where, bad.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return passing("nothing listens at %s: check host and port, and whether the server runs", where)
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		if opening && encrypted {
			return passing("no answer from %s: check host and port, and whether it speaks TLS (else write redis://)", where)
		}
		if opening {
			return passing("no answer from %s: check host and port, and what lies between", where)
		}
		return passing("no answer from %s for %v", where, silence)
	case errors.As(err, &op) && op.Op == "remote error", opening && encrypted && hungUp(err):
		return passing("the server at %s breaks off TLS: it may want a certificate of ours: tls: {cert: FILE, key: FILE}", where)
	case hungUp(err):
		if opening {
			return passing("%s closes the connection at once: it may want TLS (rediss://), have too many clients (maxclients), or be no Redis", where)
		}
		return passing("%s closed the connection", where)
	case errors.As(err, &timeout):
		return passing("%s cannot be reached: %v", where, err)
	case opening:
		return final("what answers at %s is no Redis: check host and port", where)
	}
	return passing("the connection to %s broke: %v", where, err)
}

// hungUp reports whether the other side ended the connection.
func hungUp(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}
