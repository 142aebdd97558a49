package dflockcoord

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/dflockwire"
)

var errSessionOver = fmt.Errorf("the session was closed: %w", coord.ErrClosed)

// classify joins an error with the sentinel that the core branches on.
func classify(err error) error {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dflockwire.ErrInvalid):
		return fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	case certificate, errors.Is(err, dflockwire.ErrAuth), errors.Is(err, dflockwire.ErrLimitMismatch), errors.Is(err, dflockwire.ErrProtocol):
		return fmt.Errorf("%w: %w", coord.ErrRefused, err)
	}
	return err
}

// unanswered reports whether a request had no answer, so that it may have been executed.
func unanswered(err error) bool {
	for _, e := range []error{dflockwire.ErrHungUp, dflockwire.ErrSilent, dflockwire.ErrClosed, dflockwire.ErrProtocol} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// uncertain is the error of a claim that ended without an answer.
func uncertain(within time.Duration, err error) error {
	return coord.Uncertain(fmt.Sprintf("the server gives it away within %v", within), err)
}
