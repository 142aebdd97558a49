package rediscoord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
)

// ErrNoExpiry is wrapped when a key that is claimed never expires: whoever wrote it, or
// took its expiry away, did not renew it and does not follow the rules, and nobody but a
// person will free it. Trying again may work after that.
var ErrNoExpiry = errors.New("the key has no expiry: it will not become free until somebody deletes it")

// classify joins coord.ErrRefused to what a server answers again and again. It looks at
// types and at the first word of an answer, which is the protocol's error code.
func classify(err error) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case redis.IsAuthError(err), redis.IsPermissionError(err), isWrongType(err):
	case errors.As(err, &certificate):
	case redis.HasErrorPrefix(err, "DENIED"), redis.HasErrorPrefix(err, "CROSSSLOT"), redis.HasErrorPrefix(err, "BADFENCE"):
	default:
		return err
	}
	return fmt.Errorf("%w: %w", coord.ErrRefused, err)
}

func isWrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }

// answered reports whether err is the server's own answer, so that it surely did nothing.
// Any other error leaves open whether it did.
func answered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// unsent reports whether err shows that the command never left: there was no connection
// to send it on.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" || errors.Is(err, redis.ErrClosed) || errors.Is(err, redis.ErrPoolTimeout)
}

// because joins the cause of ctx's end to err, unless err tells it already.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return errors.Join(err, cause)
	}
	return err
}
