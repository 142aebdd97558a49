package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"syscall"

	"coordtop/internal/ground/subprocess"
)

var errSlow = errors.New("no answer within 10 s")

// Command returns a Deliver that runs a program without a shell, with the message on its standard input. What it
// prints is discarded.
func Command(command []string) func(ctx context.Context, payload []byte) error {
	return func(ctx context.Context, payload []byte) error {
		_, err := subprocess.Run(ctx, subprocess.Program{Args: command, Stdin: payload})
		switch exit := new(exec.ExitError); {
		case ctx.Err() != nil && err != nil:
			return errSlow
		case errors.As(err, &exit):
			return fmt.Errorf("its command ended with %s: run it by hand to see why", exit.ProcessState)
		case err != nil:
			return errors.New("its command is not there, or cannot be run")
		}
		return nil
	}
}

// Post returns a Deliver that posts the message to a URL, which it asks for each time. It follows no redirect: it
// would lead elsewhere than the config says.
func Post(address func(ctx context.Context) (string, error)) func(ctx context.Context, payload []byte) error {
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, payload []byte) error {
		to, err := address(ctx)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(payload))
		if err != nil {
			return errors.New("its URL is none")
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "coordtop")
		answer, err := client.Do(r)
		if err != nil {
			return withoutURL(ctx, err)
		}
		_ = answer.Body.Close() // it says nothing that is wanted
		switch code := answer.StatusCode; {
		case code >= 300 && code < 400:
			return fmt.Errorf("its URL answers with a redirect (%d), which is not followed: write where it leads", code)
		case code < 200 || code >= 300:
			return fmt.Errorf("its URL answers %d %s", code, http.StatusText(code))
		}
		return nil
	}
}

// withoutURL says why a URL cannot be reached, without its host, which may be secret too.
func withoutURL(ctx context.Context, err error) error {
	switch wire := new(url.Error); {
	case ctx.Err() != nil, errors.As(err, &wire) && wire.Timeout():
		return errSlow
	case errors.As(err, new(*net.DNSError)):
		return errors.New("the host of its URL is not known")
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return errors.New("the certificate of its URL is not trusted")
	case errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("its URL does not answer with TLS")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("its URL refuses connections")
	}
	return errors.New("its URL cannot be reached")
}
