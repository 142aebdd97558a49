package dflockwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"coordtop/internal/failure"
)

// What a server refuses with; the word on the wire stands in brackets.
var (
	ErrMaxLocks        = errors.New("the server has as many keys as it may have (error_max_locks): raise --max-locks, or wait until unused ones are forgotten")
	ErrMaxWaiters      = errors.New("the queue of this key is full (error_max_waiters): try again later, or raise --max-waiters")
	ErrLimitMismatch   = errors.New("the key has another limit at the server (error_limit_mismatch): it can change a minute after the last use of the key")
	ErrAlreadyEnqueued = errors.New("this connection stands in the queue of the key already (error_already_enqueued)")
	ErrNotEnqueued     = errors.New("this connection does not stand in the queue of the key any more (error_not_enqueued)")
	ErrLeaseExpired    = errors.New("the lease ended before the claim was waited for (error_lease_expired)")
	ErrDraining        = errors.New("the server is shutting down (error_draining)")
	ErrAuth            = errors.New("the server refuses the auth token, or wants one (error_auth)")
	// ErrRejected: not owned with this nonce, or the server does not understand the request.
	ErrRejected = errors.New("the server refuses (error)")

	// ErrProtocol: no dflockd answers so.
	ErrProtocol = errors.New("not an answer of a dflockd server")
	// ErrHungUp: the server closed the connection.
	ErrHungUp = errors.New("the server closed the connection")
	// ErrSilent: the server did not answer in time.
	ErrSilent = errors.New("the server did not answer in time")
	// ErrClosed: the connection was closed on our side.
	ErrClosed = errors.New("the connection was closed by us")
	// ErrInvalid: a key or a secret that cannot be sent; nothing was.
	ErrInvalid = errors.New("cannot be sent")
)

func refusal(word string) error {
	switch word {
	case "error":
		return ErrRejected
	case "error_max_locks":
		return ErrMaxLocks
	case "error_max_waiters":
		return ErrMaxWaiters
	case "error_limit_mismatch":
		return ErrLimitMismatch
	case "error_already_enqueued":
		return ErrAlreadyEnqueued
	case "error_not_enqueued":
		return ErrNotEnqueued
	case "error_lease_expired":
		return ErrLeaseExpired
	case "error_draining":
		return ErrDraining
	case "error_auth":
		return ErrAuth
	}
	return nil
}

// unexpected is the error about an answer that is not shown: it may hold a nonce.
func unexpected(what string) error { return fmt.Errorf("%s: %w", what, ErrProtocol) }

// connectError says in words for people why there is no connection.
func connectError(addr string, err error) error {
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return failure.Sentence(fmt.Sprintf("cannot connect to %s: no answer in time", addr), err, ErrSilent)
	case errors.As(err, &op) && op.Op == "dial":
		return failure.Sentence(fmt.Sprintf("cannot connect to %s: %v", addr, op.Err), err)
	}
	return failure.Sentence(fmt.Sprintf("cannot connect to %s: %v", addr, err), err)
}

// hungUp makes one of what the end of a connection can look like.
func hungUp(err error) error {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, end) {
			return ErrHungUp
		}
	}
	return fmt.Errorf("%w: %w", ErrHungUp, err)
}
