package dflockwire

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"coordtop/internal/ground/failure"
)

// Refusal is the word with which a server refuses a request: error, or a word that begins with error_.
type Refusal string

// The refusals of version 1.10, and ErrDraining of 1.16. ErrRejected means that nothing is owned with this nonce, that
// the server does not understand the request, or that the server ends while a claim waits.
const (
	ErrRejected        Refusal = "error"
	ErrMaxLocks        Refusal = "error_max_locks"
	ErrMaxWaiters      Refusal = "error_max_waiters"
	ErrLimitMismatch   Refusal = "error_limit_mismatch"
	ErrAlreadyEnqueued Refusal = "error_already_enqueued"
	ErrNotEnqueued     Refusal = "error_not_enqueued"
	ErrLeaseExpired    Refusal = "error_lease_expired"
	ErrDraining        Refusal = "error_draining"
	ErrAuth            Refusal = "error_auth"
)

// sentences are the meanings of the refusals (constants).
var sentences = map[Refusal]string{
	ErrMaxLocks:        "the server has as many keys as it may have: raise --max-locks, or wait until unused ones are forgotten",
	ErrMaxWaiters:      "the queue of this key is full: try again later, or raise --max-waiters",
	ErrLimitMismatch:   "the key has another limit at the server, which can change a minute after the last use of the key",
	ErrAlreadyEnqueued: "this connection stands in the queue of the key already",
	ErrNotEnqueued:     "this connection does not stand in the queue of the key any more",
	ErrLeaseExpired:    "the lease ended before the claim was waited for",
	ErrDraining:        "the server is shutting down",
	ErrAuth:            "the server wants another auth token, or none",
}

// Error returns a sentence, followed by the word of the server's documentation.
func (r Refusal) Error() string {
	return cmp.Or(sentences[r], "the server refuses") + " (" + string(r) + ")"
}

// mostWord is the most bytes of a refusal that later versions may add. A longer word is not repeated.
const mostWord = 40

// refusal returns the Refusal of an answer that begins with word; nil if it is not a refusal.
func refusal(word string) error {
	if word == "error" || strings.HasPrefix(word, "error_") && len(word) <= mostWord {
		return Refusal(word)
	}
	return nil
}

// Other ends of a request.
var (
	// ErrProtocol: the answer is not in dflockd's protocol.
	ErrProtocol = errors.New("not an answer of a dflockd server")
	// ErrEndless: the answer was longer than any answer of dflockd. It wraps ErrProtocol.
	ErrEndless = fmt.Errorf("too long: %w", ErrProtocol)
	// ErrHungUp: the server closed the connection.
	ErrHungUp = failure.With(errors.New("the server closed the connection"), io.EOF)
	// ErrSilent: the server did not answer in time.
	ErrSilent = failure.With(errors.New("the server did not answer in time"), os.ErrDeadlineExceeded)
	// ErrClosed: the connection was closed on our side.
	ErrClosed = errors.New("the connection was closed by us")
	// ErrInvalid: a key or a secret cannot be sent; nothing was sent.
	ErrInvalid = errors.New("cannot be sent")
)

// unexpected returns the error about an answer. It does not repeat the answer, which may hold a nonce.
func unexpected(what string) error { return fmt.Errorf("%s: %w", what, ErrProtocol) }

// Silence is the time without a request after which the server ended a connection. It wraps ErrHungUp.
type Silence time.Duration

func (s Silence) Error() string {
	return fmt.Sprintf("the server ended the connection after a silence of %v, its --read-timeout", time.Duration(s).Round(100*time.Millisecond))
}

// Unwrap returns ErrHungUp.
func (Silence) Unwrap() error { return ErrHungUp }
