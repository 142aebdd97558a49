package ydbsource

import (
	"errors"
	"strings"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

// answered reports whether an error is an answer of the service, which proves that it is
// there.
func answered(err error) bool {
	_, ok := errors.AsType[*ydbcoord.StatusError](err)
	return ok
}

// answeredWith reports whether an error is this answer of the service.
func answeredWith(err error, status Ydb.StatusIds_StatusCode) bool {
	answer, ok := errors.AsType[*ydbcoord.StatusError](err)
	return ok && answer.Status == status
}

// words are YDB's. Nobody changes them.
var words = sources.Words{
	Product: "a YDB", NoTLS: "write grpc:// instead of grpcs://", OnlyTLS: "write grpcs:// instead of grpc://",
	Authority: "ca", Certificate: "tls: {cert: FILE, key: FILE}",
	Password: "user: and password_env or password_file, or token_env", Full: "its limits",
}

// explaining turns one error into a sentence.
type explaining struct {
	sources.Contact
	err error
	o   *ydbcoord.ClientOptions
}

func newExplaining(err error, o *ydbcoord.ClientOptions, opening bool) explaining {
	return explaining{err: err, o: o, Contact: sources.Contact{
		Words: words, Where: o.Address, User: o.User, Database: o.Database,
		Secrets: []string{o.Password, o.AccessToken}, TLS: o.TLS != nil, Opening: opening,
	}}
}

// noDatabase is what is wrong where the service has nothing at the path of the database.
func noDatabase(o ydbcoord.ClientOptions, err error) error {
	e := newExplaining(err, &o, true)
	return e.Problem(sources.NoDatabase, err, "")
}

// Explain turns an error of a connection that was made with o into a sentence. opening is
// false once the server had answered.
func Explain(err error, o ydbcoord.ClientOptions, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	e := newExplaining(err, &o, opening)
	if asked, ok := errors.AsType[*ydbcoord.HostsError](err); ok {
		e.Where = strings.Join(asked.Hosts, ",")
	}
	var foreign *ydbcoord.ForeignError
	switch {
	case errors.Is(err, ydbcoord.ErrWantsTLS):
		return e.Problem(sources.OnlyTLS, err, "")
	case errors.As(err, &foreign):
		e.Where = foreign.Addr // of the node that was asked
		return e.Problem(sources.Lies, err, foreign.What)
	case errors.Is(err, ydbcoord.ErrForeign):
		return e.Problem(sources.Foreign, err, "")
	case errors.Is(err, ydbcoord.ErrSilent), errors.Is(err, errSilent):
		return e.silence()
	}
	if status, ok := errors.AsType[*ydbcoord.StatusError](err); ok {
		return e.status(status)
	}
	if call, ok := errors.AsType[*ydbcoord.CallError](err); ok {
		return e.call(call)
	}
	if p := e.Unreached(err); p != nil {
		return p
	}
	return e.broken(err.Error())
}

// status is about what the service answered.
func (e *explaining) status(s *ydbcoord.StatusError) error {
	p := e.Problem(sources.Refuses, e.err, s.Error())
	switch s.Status {
	case Ydb.StatusIds_UNAUTHORIZED:
		if !e.Opening { // it knows us
			return e.Problem(sources.NoRight, e.err, s.Error())
		}
		return e.login(s.Error())
	case Ydb.StatusIds_NOT_FOUND:
		p.Text = "there is no such coordination node at " + e.Where + ": check node= (" + s.Status.String() + ")"
		p.Refused = true
	case Ydb.StatusIds_BAD_REQUEST, Ydb.StatusIds_SCHEME_ERROR, Ydb.StatusIds_UNSUPPORTED:
		p.Refused = true
	case Ydb.StatusIds_UNAVAILABLE, Ydb.StatusIds_OVERLOADED:
		return e.Problem(sources.NotNow, e.err, s.Error())
	}
	return p
}

// login is about a login that is refused.
func (e *explaining) login(said string) error {
	f := sources.WrongPassword
	switch {
	case e.o.AccessToken != "":
		f = sources.WrongLogin
	case e.o.User == "":
		f = sources.NoPassword
	}
	return e.Problem(f, e.err, said)
}

// call is about calls that failed below the service.
func (e *explaining) call(c *ydbcoord.CallError) error {
	switch c.Code {
	case codes.Unauthenticated, codes.PermissionDenied:
		return e.login(c.Error())
	case codes.Unimplemented:
		return e.Problem(sources.Foreign, e.err, c.Error())
	case codes.ResourceExhausted:
		return e.Problem(sources.Refuses, e.err, c.Error())
	case codes.DeadlineExceeded:
		return e.silence()
	}
	return e.broken(c.Error())
}

func (e *explaining) broken(said string) error {
	if e.Opening {
		return e.Problem(sources.Unopened, e.err, said)
	}
	return e.Problem(sources.Broken, e.err, said)
}

func (e *explaining) silence() error {
	if e.Opening {
		return e.Problem(sources.NoAnswer, e.err, "")
	}
	return e.Problem(sources.Silent, e.err, "")
}
