package ydbsource

import (
	"errors"
	"strings"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// answered reports whether an error is an answer of the service, which proves that it is alive.
func answered(err error) bool {
	_, ok := errors.AsType[*ydbcoord.StatusError](err)
	return ok
}

// answeredWith reports whether an error is an answer of the service with this status.
func answeredWith(err error, status Ydb.StatusIds_StatusCode) bool {
	answer, ok := errors.AsType[*ydbcoord.StatusError](err)
	return ok && answer.Status == status
}

// words has the terms of YDB for sentences about failures. It never changes.
var words = kit.Words{
	Product: "a YDB", NoTLS: "write grpc:// instead of grpcs://", OnlyTLS: "write grpcs:// instead of grpc://",
	Authority: "ca", Certificate: "tls: {cert: FILE, key: FILE}",
	Password: "user: and password_env or password_file, or token_env", Full: "its limits",
}

// contact returns the facts about the database for a sentence.
func contact(o *ydbcoord.ClientOptions, opening bool) kit.Contact {
	return kit.Contact{
		Words: words, Where: o.Address, User: o.User, Database: o.Database,
		Secrets: []string{o.Password, o.AccessToken}, TLS: o.TLS != nil || o.TLSFiles != nil, Opening: opening,
	}
}

// noDatabase returns the sentence about a database that does not exist.
func noDatabase(o ydbcoord.ClientOptions, err error) error {
	c := contact(&o, true)
	return c.Problem(sources.NoDatabase, err, "")
}

// Explain turns an error of a connection into a sentence. opening is false after the server has answered.
func Explain(err error, o ydbcoord.ClientOptions, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	c := contact(&o, opening)
	if asked, ok := errors.AsType[*ydbcoord.HostsError](err); ok {
		c.Where = strings.Join(asked.Hosts, ",")
	}
	silent, other := sources.Silent, sources.Broken
	if opening {
		silent, other = sources.NoAnswer, sources.Unopened
	}
	var foreign *ydbcoord.ForeignError
	var status *ydbcoord.StatusError
	var call *ydbcoord.CallError
	switch {
	case errors.Is(err, ydbcoord.ErrWantsTLS):
		return c.Problem(sources.OnlyTLS, err, "")
	case errors.As(err, &foreign):
		c.Where = foreign.Addr // the address of the node that answered
		return c.Problem(sources.Lies, err, foreign.What)
	case errors.Is(err, ydbcoord.ErrForeign):
		return c.Problem(sources.Foreign, err, "")
	case errors.Is(err, ydbcoord.ErrSilent), errors.Is(err, errSilent):
		return c.Problem(silent, err, "")
	case errors.As(err, &status):
		return explainStatus(&c, err, status, &o)
	case !errors.As(err, &call):
		if p := c.Unreached(err); p != nil {
			return p
		}
		return c.Problem(other, err, err.Error())
	}
	switch call.Code {
	case codes.Unauthenticated, codes.PermissionDenied:
		return c.Problem(loginFailure(&o), err, call.Error())
	case codes.Unimplemented:
		return c.Problem(sources.Foreign, err, call.Error())
	case codes.ResourceExhausted:
		return c.Problem(sources.Refuses, err, call.Error())
	case codes.DeadlineExceeded:
		return c.Problem(silent, err, "")
	}
	return c.Problem(other, err, call.Error())
}

// explainStatus returns the sentence about an error answer of the service.
func explainStatus(c *kit.Contact, err error, s *ydbcoord.StatusError, o *ydbcoord.ClientOptions) error {
	p := c.Problem(sources.Refuses, err, s.Error())
	switch s.Status {
	case Ydb.StatusIds_UNAUTHORIZED:
		if !c.Opening { // the service knows us
			return c.Problem(sources.NoRight, err, s.Error())
		}
		return c.Problem(loginFailure(o), err, s.Error())
	case Ydb.StatusIds_NOT_FOUND:
		p.Text = "there is no such coordination node at " + c.Where + ": check node= (" + s.Status.String() + ")"
		p.Refused = true
	case Ydb.StatusIds_BAD_REQUEST: // once it has opened a session it refuses the one request, as a count above the limit
		p.Refused = c.Opening
	case Ydb.StatusIds_SCHEME_ERROR, Ydb.StatusIds_UNSUPPORTED:
		p.Refused = true
	case Ydb.StatusIds_UNAVAILABLE, Ydb.StatusIds_OVERLOADED:
		return c.Problem(sources.NotNow, err, s.Error())
	}
	return p
}

// loginFailure returns the reason of a refused login.
func loginFailure(o *ydbcoord.ClientOptions) sources.Failure {
	switch {
	case o.AccessToken != "":
		return sources.WrongLogin
	case o.User == "":
		return sources.NoPassword
	}
	return sources.WrongPassword
}
