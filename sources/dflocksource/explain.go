package dflocksource

import (
	"errors"

	"coordtop/coord/dflockcoord"
	"coordtop/internal/dflockwire"
	"coordtop/internal/identify"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

// words are dflockd's. Nobody changes them.
var words = sources.Words{
	Product: string(identify.Dflockd), NoTLS: "write dflockd:// instead of dflockds://", OnlyTLS: "write dflockds:// instead of dflockd://",
	Authority: "tls: {ca: FILE}", Certificate: "tls: {cert: FILE, key: FILE}",
	Password: "it with password_env, password_file or in the URL", Full: "its --max-connections",
}

// Explain turns an error of a connection to the server at addr into a sentence. opening is
// false once the server had answered.
func Explain(err error, o dflockcoord.ClientOptions, addr string, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	c := sources.Contact{
		Words: words, Where: addr, Secrets: []string{o.Secret}, TLS: o.TLS != nil, Opening: opening, Silence: o.AnswerTimeout,
	}
	if p := c.Unreached(err); p != nil {
		return p
	}
	return c.Problem(failureOf(err, &c, o.Secret != ""), err, said(err))
}

func failureOf(err error, c *sources.Contact, withSecret bool) sources.Failure {
	switch {
	case errors.Is(err, dflockwire.ErrAuth) && withSecret:
		return sources.WrongSecret
	case errors.Is(err, dflockwire.ErrAuth):
		return sources.NoSecret
	case errors.Is(err, dflockwire.ErrDraining):
		return sources.Stopping
	case errors.Is(err, dflockwire.ErrProtocol) && c.Opening:
		return sources.Foreign
	case errors.Is(err, dflockwire.ErrProtocol):
		return sources.Lies
	case errors.Is(err, dflockwire.ErrSilent) && c.Opening:
		return sources.NoAnswer
	case errors.Is(err, dflockwire.ErrSilent):
		return sources.Silent
	case errors.Is(err, dflockwire.ErrHungUp) && c.Opening && c.TLS:
		return sources.TLSFailed
	case errors.Is(err, dflockwire.ErrHungUp) && c.Opening:
		return sources.ClosedAtOnce
	case errors.Is(err, dflockwire.ErrHungUp):
		return sources.Closed
	case errors.Is(err, dflockwire.ErrRejected):
		return sources.Refuses
	case c.Opening:
		return sources.Unopened
	}
	return sources.Broken
}

// said is what the sentence about err repeats of it.
func said(err error) string {
	switch {
	case errors.Is(err, dflockwire.ErrProtocol):
		return "an answer that no dflockd server gives"
	case errors.Is(err, dflockwire.ErrAuth), errors.Is(err, dflockwire.ErrDraining), errors.Is(err, dflockwire.ErrHungUp):
		return ""
	}
	return err.Error()
}
