package dflockwire

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	mostKey     = 256
	mostSeconds = 9_223_372_036
)

// Key is a lock, or a semaphore with its limit.
type Key struct {
	Name      string
	Semaphore bool
	Limit     int // of a semaphore
}

// Check returns an error that wraps ErrInvalid if the key cannot be sent.
func (k Key) Check() error {
	switch {
	case k.Name == "":
		return fmt.Errorf("an empty key: %w", ErrInvalid)
	case len(k.Name) > mostKey:
		return fmt.Errorf("a key of %d bytes, at most %d: %w", len(k.Name), mostKey, ErrInvalid)
	case strings.ContainsAny(k.Name, " \t\r\n\x00"):
		return fmt.Errorf("a key with a blank, a line break or a NUL: %w", ErrInvalid)
	case strings.ContainsRune(k.Name, utf8.RuneError): // also if the name is not UTF-8
		return fmt.Errorf("a key with U+FFFD, or bytes that are no UTF-8, for all of which a server lists U+FFFD: %w", ErrInvalid)
	case k.Semaphore && k.Limit < 1:
		return fmt.Errorf("a semaphore with a limit of %d: %w", k.Limit, ErrInvalid)
	}
	return nil
}

// command returns the command of a verb for this kind of key.
func (k Key) command(verb string) string {
	if k.Semaphore {
		return "s" + verb
	}
	return verb
}

// limit returns a semaphore's limit in the form in which a command has it before the lease; "" for a lock.
func (k Key) limit() string {
	if k.Semaphore {
		return strconv.Itoa(k.Limit) + " "
	}
	return ""
}

// Shard returns the index of the server that a key belongs to: CRC-32 (IEEE) of
// the name modulo the number of servers, as the clients in Go, Python and TypeScript compute it.
func Shard(key string, servers int) int {
	if servers <= 1 {
		return 0
	}
	return int(uint64(crc32.ChecksumIEEE([]byte(key))) % uint64(servers))
}

// Seconds rounds up to whole seconds, the unit of the protocol.
func Seconds(d time.Duration) int64 {
	return min(int64((max(d, 0)+time.Second-1)/time.Second), mostSeconds)
}

// Granted is a grant, or a renewal of its lease.
type Granted struct {
	Nonce string
	Lease time.Duration // its whole length; the lease began after Asked
	Asked time.Time     // time at which the request was sent
}

// lease returns a lease in the form in which a command has it; "" for 0, which stands for the server's default.
func lease(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return strconv.FormatInt(Seconds(d), 10)
}

// Acquire claims a key, or a permit, and waits for it at the server for at most the given time,
// in whole seconds; ok is false if it was not granted in that time.
func (c *Conn) Acquire(ctx context.Context, k Key, wait, length time.Duration) (g Granted, ok bool, err error) {
	return c.claim(ctx, k, "l", wait, fmt.Sprintf("%d %s%s", Seconds(wait), k.limit(), lease(length)))
}

// Enqueue takes a place in the queue; ok reports that it was granted at once.
func (c *Conn) Enqueue(ctx context.Context, k Key, length time.Duration) (g Granted, ok bool, err error) {
	return c.claim(ctx, k, "e", 0, k.limit()+lease(length))
}

// Wait waits, as Acquire does, at the place that Enqueue took on this connection. ok is false if it was not granted in
// that time; the place in the queue is gone then. On an old server the grant may have expired already; a renewal then
// returns ErrRejected.
func (c *Conn) Wait(ctx context.Context, k Key, wait time.Duration) (g Granted, ok bool, err error) {
	return c.claim(ctx, k, "w", wait, strconv.FormatInt(Seconds(wait), 10))
}

func (c *Conn) claim(ctx context.Context, k Key, verb string, wait time.Duration, argument string) (Granted, bool, error) {
	patience := c.patience + time.Duration(Seconds(wait))*time.Second
	fields, sent, err := c.ask(ctx, patience, k.command(verb), k.Name, strings.TrimSpace(argument))
	switch {
	case err != nil:
		return Granted{}, false, err
	case len(fields) == 1 && (fields[0] == "timeout" || fields[0] == "queued"):
		return Granted{}, false, nil
	case len(fields) >= 3 && (fields[0] == "ok" || fields[0] == "acquired"):
		if length, ok := seconds(fields[2]); ok {
			return Granted{Nonce: fields[1], Lease: length, Asked: sent}, true, nil
		}
	}
	return Granted{}, false, c.broken(verb)
}

func seconds(text string) (time.Duration, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * time.Second, err == nil && n > 0 && n <= mostSeconds
}

// Renew restarts a lease. It returns ErrRejected if nothing is owned with this nonce. It may block for as long as
// the lease lasts. If ctx ends before the answer, the connection ends, and the server releases what the connection
// owns.
func (c *Conn) Renew(ctx context.Context, k Key, nonce string, length time.Duration) (Granted, error) {
	fields, sent, err := c.ask(ctx, cmp.Or(length, c.patience), k.command("n"), k.Name, nonce+" "+lease(length))
	if err != nil {
		return Granted{}, err
	}
	if len(fields) >= 2 && fields[0] == "ok" {
		if length, ok := seconds(fields[1]); ok {
			return Granted{Nonce: nonce, Lease: length, Asked: sent}, nil
		}
	}
	return Granted{}, c.broken("n")
}

// Release gives a grant back. It returns no error if the grant was not ours any more.
func (c *Conn) Release(ctx context.Context, k Key, nonce string) error {
	_, err := c.confirm(ctx, k.command("r"), k.Name, nonce)
	return err
}

// Ping keeps a connection alive. known reports whether the server knows the command ping, which came with version 1.14.
func (c *Conn) Ping(ctx context.Context) (known bool, err error) {
	return c.confirm(ctx, "ping", "_", "")
}
