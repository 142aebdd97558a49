package dflockcoord

import (
	"crypto/tls"
	"errors"
	"fmt"

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
