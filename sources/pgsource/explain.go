package pgsource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/format"
	"coordtop/internal/pgwire"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

// SQLSTATEs that mean something to us (manual, appendix "PostgreSQL Error Codes").
const (
	stateNoRight       = "42501"
	stateNoDatabase    = "3D000"
	stateWrongPassword = "28P01"
	stateNotLetIn      = "28000"
	stateTooMany       = "53300"
	stateNotNow        = "57P03"
	stateShutdown      = "57P01"
	stateCrashed       = "57P02"
	stateCancelled     = "57014"
	stateProtocol      = "08P01"
	stateIdleTooLong   = "57P05"
)

// explaining turns one error into a sentence.
type explaining struct {
	err     error
	config  *pgconn.Config
	where   string
	opening bool // the server has not answered yet
}

// explain turns an error into a sentence. opening is false once the server had answered.
func explain(err error, c *pgconn.Config, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) {
		return err
	}
	e := explaining{err: err, config: c, where: strings.Join(pgwire.Hosts(c), ", "), opening: opening}
	var version *pgwire.VersionError
	var role *roleError
	var moved movedError
	var reply *pgconn.PgError
	switch {
	case errors.Is(err, spawn.ErrPanic):
		return err
	case errors.As(err, &version):
		return e.final("%s", version.Error())
	case errors.As(err, &role):
		return e.passing("%s", role.Error())
	case errors.As(err, &moved):
		return e.passing("%s", moved.Error())
	case errors.As(err, &reply):
		return e.reply(reply)
	case errors.Is(err, errWrongRole):
		return e.passing("none of %s is a server of the sort that is asked for (the primary among several hosts, or target_session_attrs)", e.where)
	}
	return e.link()
}

func (e explaining) final(text string, args ...any) error {
	return &sources.Problem{Text: fmt.Sprintf(text, args...), Cause: e.err, Refused: true}
}

func (e explaining) login(text string, args ...any) error {
	return &sources.Problem{Text: fmt.Sprintf(text, args...), Cause: e.err, Refused: true, Login: true}
}

func (e explaining) passing(text string, args ...any) error {
	return &sources.Problem{Text: fmt.Sprintf(text, args...), Cause: e.err}
}

// reply is about what the server answered.
func (e explaining) reply(r *pgconn.PgError) error {
	user, database := format.Clean(e.config.User, 63), format.Clean(e.config.Database, 63)
	said := format.Clean(r.Message, 300) + " (SQLSTATE " + r.Code + ")"
	if r.Detail != "" {
		said = format.Clean(r.Message+": "+r.Detail, 300) + " (SQLSTATE " + r.Code + ")"
	}
	switch {
	case r.Code == stateWrongPassword && e.config.Password == "":
		return e.login("the server at %s wants a password for %s: give it with password_env, password_file or in the URL (SQLSTATE %s)", e.where, user, r.Code)
	case r.Code == stateWrongPassword:
		return e.login("the server at %s refuses the password of %s: check both (SQLSTATE %s)", e.where, user, r.Code)
	case r.Code == stateNotLetIn || strings.HasPrefix(r.Code, "28"):
		return e.login("the server at %s does not let %q in: %s", e.where, user, said)
	case r.Code == stateNoDatabase:
		return e.final("the server at %s has no database %s: check the name at the end of the URL (SQLSTATE %s)", e.where, database, r.Code)
	case r.Code == stateNoRight:
		return e.final("%s lacks a right at %s: %s", user, e.where, said)
	case r.Code == stateTooMany:
		return e.passing("the server at %s has no connection left for %s: see max_connections and the limit of the role (SQLSTATE %s)", e.where, user, r.Code)
	case r.Code == stateNotNow:
		return e.passing("the server at %s does not take connections now: %s", e.where, said)
	case r.Code == stateShutdown && !e.opening:
		return e.passing("the server at %s ended our session, or shuts down (SQLSTATE %s)", e.where, r.Code)
	case r.Code == stateCrashed:
		return e.passing("the server at %s ended all sessions because a process of it crashed (SQLSTATE %s)", e.where, r.Code)
	case r.Code == stateCancelled:
		return e.passing("the server at %s took longer than %v to answer: %s", e.where, pgwire.StatementLimit, said)
	case r.Code == stateIdleTooLong:
		return e.passing("the server at %s ended our session because it was idle (SQLSTATE %s)", e.where, r.Code)
	case r.Code == stateProtocol && e.opening:
		return e.final("the server or pooler at %s refuses the connection: %s", e.where, said)
	}
	return e.passing("the server at %s refuses: %s", e.where, said)
}

// advice is for Postgres. Nobody changes it.
var advice = sources.Advice{NoTLS: "see sslmode", Authority: "sslrootcert"}

// link is about what kept an answer from coming.
func (e explaining) link() error {
	if p := sources.Unreached(e.err, e.where, advice); p != nil {
		return p
	}
	var op *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(e.err, syscall.ENOENT):
		return e.passing("there is no socket at %s: check the folder, and whether the server runs", e.where)
	case errors.Is(e.err, errSilent), errors.Is(e.err, context.DeadlineExceeded), pgconn.Timeout(e.err), errors.As(e.err, &timeout) && timeout.Timeout():
		return e.silence()
	case errors.Is(e.err, context.Canceled), errors.Is(e.err, sources.ErrClosed):
		return e.passing("looking at %s was given up", e.where)
	case sources.HungUp(e.err), errors.Is(e.err, pgconn.ErrConnClosed):
		if e.opening {
			return e.passing("%s closes the connection at once: it may be no Postgres, or about to stop", e.where)
		}
		return e.passing("%s closed the connection", e.where)
	case errors.As(e.err, &op):
		return e.passing("%s cannot be reached: %v", e.where, op.Err)
	case e.opening && e.config.TLSConfig != nil:
		return e.passing("connecting to %s with TLS does not work: %s: "+
			"if the server has none, write sslmode=disable, or give it some (ssl = on)", e.where, oneLine(e.err))
	case e.opening:
		return e.passing("connecting to %s does not work: %s", e.where, oneLine(e.err))
	}
	return e.passing("the connection to %s broke: %s", e.where, oneLine(e.err))
}

func (e explaining) silence() error {
	if e.opening {
		return e.passing("%s takes connections, or packets vanish on the way, but there is no answer: "+
			"check host and port, and whether a Postgres listens there", e.where)
	}
	return e.passing("no answer from %s for %v", e.where, answerLimit)
}

// oneLine is the innermost text of an error: outer ones of the library repeat the user and
// the attempts at every address.
func oneLine(err error) string {
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = connect.Unwrap()
	}
	return format.Clean(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; "), 300)
}
