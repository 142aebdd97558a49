package ydbsource

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/format"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

// answered says whether an error is an answer of the service, which proves that it is
// there.
func answered(err error) bool {
	_, ok := errors.AsType[*ydbcoord.StatusError](err)
	return ok
}

// answeredWith says whether an error is this answer of the service.
func answeredWith(err error, status Ydb.StatusIds_StatusCode) bool {
	answer, ok := errors.AsType[*ydbcoord.StatusError](err)
	return ok && answer.Status == status
}

// advice is for YDB. Nobody changes it.
var advice = sources.Advice{NoTLS: "write grpc:// instead of grpcs://", Authority: "ca"}

// noDatabase is what is wrong where the service has nothing at the path of the database.
func noDatabase(o ydbcoord.ClientOptions, err error) error {
	return &sources.Problem{
		Text: fmt.Sprintf("there is no database %s at %s: check the path in the URL",
			format.Clean(o.Database, 200), format.Clean(o.Address, 100)),
		Cause: err, Refused: true,
	}
}

// explaining turns one error into a sentence.
type explaining struct {
	err     error
	o       ydbcoord.ClientOptions
	where   string
	opening bool // the server has not answered yet
}

// explain turns an error into a sentence. opening is false once the server had answered.
func explain(err error, o ydbcoord.ClientOptions, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	e := explaining{err: err, o: o, where: format.Clean(o.Address, 100), opening: opening}
	if p := sources.Unreached(err, e.where, advice); p != nil {
		return p
	}
	if status, ok := errors.AsType[*ydbcoord.StatusError](err); ok {
		return e.status(status)
	}
	if call, ok := errors.AsType[*ydbcoord.CallError](err); ok {
		return e.call(call)
	}
	return e.link()
}

func (e explaining) problem(p sources.Problem, text string, args ...any) error {
	p.Text, p.Cause = fmt.Sprintf(text, args...), e.err
	return &p
}

func (e explaining) who() string {
	switch {
	case e.o.AccessToken != "":
		return "our access token"
	case e.o.User != "":
		return "the user " + format.Clean(e.o.User, 63) + " or the password"
	}
	return "to talk without a login: give user and password, or access_token"
}

// status is about what the service answered.
func (e explaining) status(s *ydbcoord.StatusError) error {
	said := format.Clean(s.Error(), 300)
	switch {
	case s.Status == Ydb.StatusIds_UNAUTHORIZED:
		return e.problem(sources.Problem{Refused: true, Login: true}, "the service at %s refuses %s (%s)", e.where, e.who(), said)
	case s.Status == Ydb.StatusIds_NOT_FOUND:
		return e.problem(sources.Problem{Refused: true}, "there is no such coordination node at %s: check node= (%s)", e.where, said)
	case slices.Contains([]Ydb.StatusIds_StatusCode{Ydb.StatusIds_BAD_REQUEST, Ydb.StatusIds_SCHEME_ERROR, Ydb.StatusIds_UNSUPPORTED}, s.Status):
		return e.problem(sources.Problem{Refused: true}, "the service at %s refuses: %s", e.where, said)
	}
	return e.problem(sources.Problem{}, "the service at %s cannot serve us now: %s", e.where, said)
}

// call is about calls that failed below the service.
func (e explaining) call(c *ydbcoord.CallError) error {
	said := format.Clean(c.Error(), 300)
	switch c.Code {
	case codes.Unauthenticated, codes.PermissionDenied:
		return e.problem(sources.Problem{Refused: true, Login: true}, "the service at %s refuses %s (%s)", e.where, e.who(), said)
	case codes.Unimplemented:
		return e.problem(sources.Problem{Refused: true}, "what listens at %s is no YDB with coordination (%s)", e.where, said)
	case codes.ResourceExhausted:
		return e.problem(sources.Problem{}, "the service at %s has no room for another session: see its limits (%s)", e.where, said)
	case codes.DeadlineExceeded:
		return e.silence()
	}
	if e.opening {
		return e.problem(sources.Problem{}, "connecting to %s does not work: %s", e.where, said)
	}
	return e.problem(sources.Problem{}, "the connection to %s broke: %s", e.where, said)
}

// link is about what kept an answer from coming.
func (e explaining) link() error {
	switch {
	case errors.Is(e.err, ydbcoord.ErrWantsTLS):
		return e.problem(sources.Problem{Refused: true}, "the server at %s speaks TLS: write grpcs:// instead of grpc://", e.where)
	case errors.Is(e.err, ydbcoord.ErrSilent), errors.Is(e.err, errSilent), errors.Is(e.err, context.DeadlineExceeded):
		return e.silence()
	case errors.Is(e.err, context.Canceled), errors.Is(e.err, sources.ErrClosed):
		return e.problem(sources.Problem{}, "looking at %s was given up", e.where)
	case sources.HungUp(e.err) && e.opening:
		return e.problem(sources.Problem{}, "%s closes the connection at once: it may be no YDB, or about to stop", e.where)
	case sources.HungUp(e.err):
		return e.problem(sources.Problem{}, "%s closed the connection", e.where)
	case e.opening:
		return e.problem(sources.Problem{}, "connecting to %s does not work: %s", e.where, format.Clean(e.err.Error(), 300))
	}
	return e.problem(sources.Problem{}, "the connection to %s broke: %s", e.where, format.Clean(e.err.Error(), 300))
}

func (e explaining) silence() error {
	if e.opening {
		return e.problem(sources.Problem{}, "%s takes connections, or packets vanish on the way, but there is no answer: "+
			"check host and port, and whether a YDB listens there", e.where)
	}
	return e.problem(sources.Problem{}, "no answer from %s", e.where)
}
