package pgcoord

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/pgwire"
)

// The SQLSTATEs that the driver distinguishes (postgresql.org/docs/current/errcodes-appendix.html).
const (
	stateInvalidValue  = "22023" // a setting that this server cannot have
	stateUnknownParam  = "42704"
	stateCancelled     = "57014"
	stateNoDatabase    = "3D000"
	stateNoRight       = "42501"
	stateNotSupported  = "0A000"
	classAuthorization = "28" // wrong password, no such role, no right to connect
	classAccess        = "42" // no right, no such function
)

// errClosed is the cause of everything that we closed ourselves.
var errClosed = fmt.Errorf("%w by us", coord.ErrClosed)

// errUnanswered reports that the server did not answer in time; it may have executed the statement.
var errUnanswered = errors.New("no answer in time")

// classify joins coord.ErrRefused to an error that the server would repeat.
func classify(err error) error {
	reply, answered := errors.AsType[*pgconn.PgError](err)
	if answered && refused(reply.Code) || errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(*pgwire.VersionError)) {
		return fmt.Errorf("%w: %w", coord.ErrRefused, err)
	}
	return err
}

func refused(state string) bool {
	return strings.HasPrefix(state, classAuthorization) || strings.HasPrefix(state, classAccess) ||
		state == stateNoDatabase || state == stateNotSupported
}

// hasState reports whether the server answered with one of these SQLSTATEs.
func hasState(err error, states ...string) bool {
	reply, answered := errors.AsType[*pgconn.PgError](err)
	return answered && slices.Contains(states, reply.Code)
}

// final reports whether repeating the request is useless.
func final(err error) bool {
	return failure.IsAny(err, coord.ErrRefused, coord.ErrInvalid, coord.ErrUnsupported, coord.ErrClosed)
}

// notOurLoss returns err without its sentinels of a loss, for a connection that owned nothing yet.
func notOurLoss(err error) error {
	if failure.IsAny(err, coord.ErrLost, coord.ErrExpired) {
		return fmt.Errorf("the connection ended: %s", err) // as text, because no grant has ended
	}
	return err
}

// validText reports whether Postgres accepts s as text.
func validText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
