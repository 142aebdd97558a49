package pgsource

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/pgwire"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

// SQLSTATEs that mean something to us (manual, appendix "PostgreSQL Error Codes").
const (
	stateNoRight       = "42501"
	stateNoDatabase    = "3D000"
	stateWrongPassword = "28P01"
	classNotLetIn      = "28"
	stateTooMany       = "53300"
	stateNotNow        = "57P03"
	stateShutdown      = "57P01"
	stateCrashed       = "57P02"
	stateCancelled     = "57014"
	stateProtocol      = "08P01"
	stateIdleTooLong   = "57P05"
)

// words are Postgres'. Nobody changes them.
var words = sources.Words{
	Product: "a Postgres server", NoTLS: "write sslmode=disable, or let the server have some (ssl = on)", OnlyTLS: "write sslmode=require",
	Authority: "sslrootcert", Certificate: "sslcert and sslkey",
	Password: "it with password_env, password_file or in the URL", Full: "max_connections and the limit of the role",
}

// explaining turns one error into a sentence.
type explaining struct {
	sources.Contact
	err error
}

// shortestSetting is what is masked of a setting: the server may say "on" of its own.
const shortestSetting = 5

// secrets are the words of an address that may be one: the server repeats those of settings.
func secrets(c *pgconn.Config) []string {
	list := []string{c.Password}
	for _, value := range c.RuntimeParams {
		if len(value) < shortestSetting {
			continue
		}
		plain := strings.ReplaceAll(value, `\`, "") // the server takes them out of options
		list = append(list, value, plain)
		for word := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == ' ' || r == '=' }) {
			if len(word) >= shortestSetting {
				list = append(list, word)
			}
		}
	}
	return list
}

// Explain turns an error of another connection to the server of o, which had let it in, into
// a sentence.
func Explain(err error, o Options) error {
	config, _, bad := parseURL(o)
	if bad != nil {
		return err
	}
	return explain(err, config, false)
}

// explain turns an error of a connection that was made with c into a sentence. opening is
// false once the server had answered.
func explain(err error, c *pgconn.Config, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	e := explaining{err: err, Contact: sources.Contact{
		Words: words, Where: strings.Join(pgwire.Hosts(c), ", "), User: c.User, Database: c.Database,
		Secrets: secrets(c), TLS: onlyTLS(c), Opening: opening, Silence: answerLimit,
	}}
	var version *pgwire.VersionError
	var reply *pgconn.PgError
	switch {
	case errors.As(err, &version):
		return sources.Final(err, "%s", version.Error())
	case errors.As(err, &reply):
		return e.reply(reply)
	case errors.Is(err, errWrongRole):
		return sources.Passing(err, "none of %s is a server of the sort that is asked for (the primary among several hosts, or target_session_attrs)", e.Where)
	}
	if lie, ok := errors.AsType[*pgwire.Excess](err); ok {
		return e.Problem(sources.Lies, err, lie.What)
	}
	if errors.Is(err, pgwire.ErrNoSession) {
		return sources.Passing(err, "%s: %s", e.Where, pgwire.ErrNoSession)
	}
	if errors.Is(err, pgwire.ErrForeign) {
		return e.Problem(sources.Foreign, err, "")
	}
	if p := e.Unreached(err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, pgconn.ErrConnClosed):
		return e.Problem(sources.Closed, err, "")
	case opening && e.TLS: // the library has no error of its own for a server that has none
		return e.Problem(sources.TLSFailed, err, innermost(err))
	case opening:
		return e.Problem(sources.Foreign, err, innermost(err))
	}
	return e.Problem(sources.Broken, err, innermost(err))
}

// address is where the server is asked of what kind it is: "" where there are several, none of
// TCP, or connections that somebody else makes.
func address(o *Options, c *pgconn.Config) string {
	hosts := pgwire.Hosts(c)
	if len(hosts) != 1 || o.Dial != nil || strings.HasPrefix(hosts[0], "/") {
		return ""
	}
	return hosts[0]
}

// onlyTLS reports whether every attempt is made with TLS.
func onlyTLS(c *pgconn.Config) bool {
	return c.TLSConfig != nil && !slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil })
}

// reply is about what the server answered.
func (e *explaining) reply(r *pgconn.PgError) error {
	state := "SQLSTATE " + r.Code
	said := state + ": " + r.Message // the message may be cut
	if r.Detail != "" {
		said += ": " + r.Detail
	}
	is := func(f sources.Failure, said string) error { return e.Problem(f, e.err, said) }
	switch {
	case r.Code == stateWrongPassword && e.Secrets[0] == "":
		return is(sources.NoPassword, state)
	case r.Code == stateWrongPassword:
		return is(sources.WrongPassword, state)
	case strings.HasPrefix(r.Code, classNotLetIn):
		return is(sources.NotLetIn, said)
	case r.Code == stateNoDatabase:
		return is(sources.NoDatabase, state)
	case r.Code == stateNoRight:
		return is(sources.NoRight, said)
	case r.Code == stateTooMany:
		return is(sources.Full, state)
	case r.Code == stateNotNow:
		return is(sources.NotNow, said)
	case r.Code == stateShutdown:
		return is(sources.Stopping, state)
	case r.Code == stateCrashed:
		return is(sources.Stopping, state+": a process of it crashed")
	case r.Code == stateIdleTooLong:
		return is(sources.Stopping, state+": the session was idle for too long")
	case r.Code == stateCancelled:
		return is(sources.Refuses, said+": see statement_timeout")
	}
	p := e.Problem(sources.Refuses, e.err, said)
	p.Refused = r.Code == stateProtocol && e.Opening // a pooler that wants something else
	return p
}

// innermost is the text of the innermost error: outer ones of the library repeat the user
// and the attempts at every address.
func innermost(err error) string {
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = connect.Unwrap()
	}
	return err.Error()
}
