package ydbcoord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"coordtop/coord"
)

// ErrWantsTLS: the server speaks TLS, and we were configured without it. It comes beside
// coord.ErrRefused.
var ErrWantsTLS = errors.New("the server speaks TLS only")

// ErrForeign: what answers at the address does not speak HTTP/2, so it is not a YDB. It comes
// beside coord.ErrRefused.
var ErrForeign = errors.New("the answer is not HTTP/2")

const (
	// greeting is the first that a client of HTTP/2 says: the preface, and settings that
	// are empty (RFC 9113, 3.4).
	greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	// frameHeader is the length of the beginning of what the server answers: settings too.
	frameHeader  = 9
	settingsKind = 4 // at the fourth byte

	greetingFor = time.Second // how long each of the two tries may take
)

// greet finds out whether the server speaks HTTP/2 without TLS. A server that says nothing for now
// may only be slow, which is the SDK's to wait for.
func (o ClientOptions) greet(ctx context.Context, conn net.Conn) error {
	soon, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	end, _ := soon.Deadline()
	_ = conn.SetDeadline(end) // it fails where the connection is closed, as what follows does
	_, err := io.WriteString(conn, greeting)
	var header [frameHeader]byte
	if err == nil {
		_, err = io.ReadFull(conn, header[:])
	}
	switch {
	case err == nil && header[3] == settingsKind:
		return nil
	case o.wantsTLS(ctx):
		return fmt.Errorf("%w: %w", coord.ErrRefused, ErrWantsTLS)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case err == nil:
		return fmt.Errorf("%w: %w", coord.ErrRefused, ErrForeign)
	}
	return err
}

// wantsTLS reports whether the server answers the beginning of TLS. That its certificate is
// not trusted is such an answer.
func (o ClientOptions) wantsTLS(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, greetingFor)
	defer cancel()
	conn, err := (&tls.Dialer{Config: &tls.Config{NextProtos: []string{"h2"}}}).DialContext(ctx, "tcp", o.Address)
	if err == nil {
		_ = conn.Close() // nobody waits for what was sent
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return err == nil || untrusted || alert
}
