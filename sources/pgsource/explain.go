package pgsource

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

type meaning struct {
	state string
	is    sources.Failure
	said  bool // the server's message is repeated
	more  string
}

// meanings explain SQLSTATEs, or their beginnings (manual, appendix "PostgreSQL Error Codes"); the first match is used.
var meanings = []meaning{
	{"28P01", sources.WrongPassword, false, ""},
	{"28", sources.NotLetIn, true, ""},
	{"3D000", sources.NoDatabase, false, ""},
	{"42501", sources.NoRight, true, ""},
	{"53300", sources.Full, false, ""},
	{"57P03", sources.NotNow, true, ""},
	{"57P01", sources.Stopping, false, ""},
	{"57P02", sources.Stopping, false, ": a process of it crashed"},
	{"57P05", sources.Stopping, false, ": the session was idle for too long"},
	{"57014", sources.Refuses, true, ": see statement_timeout"},
	{"", sources.Refuses, true, ""},
}

// stateProtocol is the SQLSTATE with which a pooler refuses a connection (protocol_violation).
const stateProtocol = "08P01"

// words are the terms of Postgres for sentences about failures. They never change.
var words = kit.Words{
	Product: "a Postgres server", NoTLS: "write sslmode=disable, or let the server have some (ssl = on)", OnlyTLS: "write sslmode=require",
	Authority: "sslrootcert", Certificate: "sslcert and sslkey",
	Password: "it with password_env, password_file or in the URL", Full: "max_connections and the limit of the role",
}

// shortestSetting is the minimum length of a setting that is masked, because the server may use a word such as "on" by
// itself.
const shortestSetting = 5

// secrets returns the words of an address that may be secret, because the server repeats the values of settings.
func secrets(c *pgconn.Config) []string {
	list := []string{c.Password}
	for _, value := range c.RuntimeParams {
		if len(value) < shortestSetting {
			continue
		}
		plain := strings.ReplaceAll(value, `\`, "") // the server removes backslashes from options
		list = append(list, value, plain)
		for word := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == ' ' || r == '=' }) {
			if len(word) >= shortestSetting {
				list = append(list, word)
			}
		}
	}
	return list
}

// Explain turns an error into a sentence. The error is from another connection to the server of o, after its login.
func Explain(err error, o Options) error {
	config, _, bad := parseURL(o)
	if bad != nil {
		return err
	}
	return explain(err, config, false)
}

// explain turns an error of a connection with the config c into a sentence. opening is false after the server has
// answered.
func explain(err error, c *pgconn.Config, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	e := kit.Contact{
		Words: words, Where: strings.Join(pgwire.Hosts(c), ", "), User: c.User, Database: c.Database,
		Secrets: secrets(c), TLS: onlyTLS(c), Opening: opening, Silence: answerLimit,
	}
	var version *pgwire.VersionError
	var answer *pgconn.PgError
	var lie *pgwire.Excess
	switch {
	case errors.As(err, &version):
		return sources.Final(err, "%s", version.Error())
	case errors.As(err, &answer):
		return reply(e, err, answer)
	case errors.Is(err, errWrongRole):
		return sources.Passing(err, "none of %s is a server of the sort that is asked for (the primary among several hosts, or target_session_attrs)", e.Where)
	case errors.As(err, &lie):
		return e.Problem(sources.Lies, err, lie.What)
	case errors.Is(err, pgwire.ErrNoSession):
		return sources.Passing(err, "%s: %s", e.Where, pgwire.ErrNoSession)
	case errors.Is(err, pgwire.ErrForeign):
		return e.Problem(sources.Foreign, err, "")
	}
	if p := e.Unreached(err); p != nil {
		return p
	}
	switch {
	case errors.Is(err, pgconn.ErrConnClosed):
		return e.Problem(sources.Closed, err, "")
	case opening && e.TLS: // the library has no error of its own for a server without TLS
		return e.Problem(sources.TLSFailed, err, innermost(err))
	case opening:
		return e.Problem(sources.Foreign, err, innermost(err))
	}
	return e.Problem(sources.Broken, err, innermost(err))
}

// address returns the address at which to find out what kind of server answers. It returns "" if there are several
// addresses, if there is no TCP address, or if Options.Dial is set.
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

// reply explains an error answer of the server.
func reply(contact kit.Contact, err error, r *pgconn.PgError) error {
	i := slices.IndexFunc(meanings, func(m meaning) bool { return strings.HasPrefix(r.Code, m.state) })
	m, text := meanings[i], "SQLSTATE "+r.Code
	if m.said {
		text += ": " + r.Message // the message may be cut
	}
	if m.said && r.Detail != "" {
		text += ": " + r.Detail
	}
	if m.is == sources.WrongPassword && contact.Secrets[0] == "" {
		m.is = sources.NoPassword
	}
	p := contact.Problem(m.is, err, text+m.more)
	p.Refused = p.Refused || r.Code == stateProtocol && contact.Opening
	return p
}

// innermost returns the text of the innermost error, because outer errors of the library repeat the user and the
// attempts at every address.
func innermost(err error) string {
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = connect.Unwrap()
	}
	return err.Error()
}
