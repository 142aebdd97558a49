package rediscoord

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
)

// ErrNoExpiry reports that the claimed key never expires, because the program that wrote it set or left no expiry. Only
// a person can free it; after that a new try may succeed.
var ErrNoExpiry = errors.New("the key has no expiry: it will not become free until somebody deletes it")

// classify joins coord.ErrRefused to an error that the server would repeat at every try. It compares types and the
// first word of an answer, which is the protocol's error code.
func classify(err error) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case redis.IsAuthError(err), redis.IsPermissionError(err), isWrongType(err):
	case errors.As(err, &certificate):
	case redis.HasErrorPrefix(err, "DENIED"), redis.HasErrorPrefix(err, "CROSSSLOT"):
	default:
		return explain(err)
	}
	return fmt.Errorf("%w: %w", coord.ErrRefused, err)
}

// passing lists errors that servers answer for a while, by the protocol's error code. Each has a sentence for people
// that names the code. A waiting claim is repeated after all of them, see coord.Passing.
var passing = []struct{ code, text string }{
	{"LOADING", "the server is loading its data (LOADING)"},
	{"BUSY", "the server is busy with a script of somebody's (BUSY)"},
	{"UNKILLABLE", "the server is busy with a script of somebody's that cannot be stopped (UNKILLABLE)"},
	{"READONLY", "this server is a replica now, and takes no writes (READONLY)"},
	{"MASTERDOWN", "this server is a replica that has lost its master (MASTERDOWN)"},
	{"NOREPLICAS", "the server has too few replicas to take writes (NOREPLICAS)"},
	{"OOM", "the server's memory is full, it takes no writes (OOM)"},
	{"MISCONF", "the server cannot save its data, and takes no writes until it can (MISCONF)"},
	{"TRYAGAIN", "the key is being moved to another node of the Cluster (TRYAGAIN)"},
	{"CLUSTERDOWN", "the Cluster is down (CLUSTERDOWN)"},
	{"max number of clients", "the server has no connection left for us (ERR max number of clients)"},
}

// explain wraps err with a sentence for people, if it is a server's answer that may pass or a failure to get an answer.
func explain(err error) error {
	if err == nil {
		return nil
	}
	for _, p := range passing {
		if redis.HasErrorPrefix(err, p.code) {
			return failure.Sentence(p.text, err)
		}
	}
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &op) && op.Op == "dial" && op.Addr != nil:
		return failure.Sentence(fmt.Sprintf("cannot connect to %v: %v", op.Addr, op.Err), err)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return failure.Sentence("the server closed the connection", err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return failure.Sentence("the server did not answer in time", err)
	}
	return err
}

func isWrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }

// answered reports whether err is the server's own answer, so that the server surely did nothing. After any other
// error, it may have executed the command.
func answered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// unsent reports whether err shows that the command was never sent, because there was no connection.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" || errors.Is(err, redis.ErrClosed) || errors.Is(err, redis.ErrPoolTimeout)
}
