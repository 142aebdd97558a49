package dflocksource

import (
	"errors"

	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/identify"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// words has the terms of dflockd for sentences about failures. It never changes.
var words = kit.Words{
	Product: string(identify.Dflockd), NoTLS: "write dflockd:// instead of dflockds://", OnlyTLS: "write dflockds:// instead of dflockd://",
	Authority: "tls: {ca: FILE}", Certificate: "tls: {cert: FILE, key: FILE}",
	Password: "it with password_env, password_file or in the URL", Full: "its --max-connections",
}

// Explain turns an error of a connection to the server at addr into a sentence. opening is false after the server has
// answered.
func Explain(err error, o dflockcoord.ClientOptions, addr string, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	c := kit.Contact{
		Words: words, Where: addr, Secrets: []string{o.Secret}, TLS: o.TLS != nil || o.TLSFiles != nil, Opening: opening, Silence: o.AnswerTimeout,
	}
	if silence, ok := errors.AsType[dflockwire.Silence](err); ok {
		return c.Problem(sources.Broken, err, silence.Error()+": idle= in the URL tells it")
	}
	if p := c.Unreached(err); p != nil {
		return p
	}
	foreign, other := sources.Lies, sources.Broken
	if opening {
		foreign, other = sources.Foreign, sources.Unopened
	}
	switch {
	case errors.Is(err, dflockwire.ErrAuth) && errors.Is(err, dflockwire.ErrRejected):
		return c.Problem(sources.WrongSecret, err, "the server has none: leave it out")
	case errors.Is(err, dflockwire.ErrAuth) && o.Secret == "":
		return c.Problem(sources.NoSecret, err, "")
	case errors.Is(err, dflockwire.ErrAuth):
		return c.Problem(sources.WrongSecret, err, "")
	case errors.Is(err, dflockwire.ErrDraining):
		return c.Problem(sources.Stopping, err, "")
	case errors.Is(err, dflockwire.ErrEndless):
		return c.Problem(foreign, err, "an answer that does not end")
	case errors.Is(err, dflockwire.ErrProtocol):
		return c.Problem(foreign, err, "an answer that no dflockd server gives")
	case errors.Is(err, dflockwire.ErrRejected):
		return c.Problem(sources.Refuses, err, err.Error())
	}
	return c.Problem(other, err, err.Error())
}
