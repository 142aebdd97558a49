package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
	"coordtop/sources/kit"
)

// reach looks up an address, connects to it, and starts TLS. If a step fails, the last check is a warning about that
// step, because another address may work.
func reach(ctx context.Context, e kit.Endpoint) (list []kit.Check, failed bool) {
	step := func(name, text string, err error) bool {
		c := check(name, kit.CheckPassed, text)
		if err != nil {
			c = check(name, kit.CheckWarned, err.Error())
		}
		list = append(list, c)
		return err == nil
	}
	network, host := address.Network(e.Address), ""
	if network == "tcp" {
		host, _, _ = net.SplitHostPort(e.Address) // a parser of URLs made it, so this cannot fail
		found, err := net.DefaultResolver.LookupHost(ctx, host)
		text := host + " is " + strings.Join(found, ", ")
		if slices.Equal(found, []string{host}) {
			text = host + " is an address"
		}
		if !step("name", text, err) {
			return list, true
		}
	}
	began := time.Now()
	conn, err := new(net.Dialer).DialContext(ctx, network, e.Address)
	if !step("connect", e.Address+" in "+format.Precise(time.Since(began)), err) {
		return list, true
	}
	defer conn.Close()
	text, err := secure(ctx, conn, e, host)
	return list, !step("TLS", text, err)
}

// secure starts TLS, and returns a description of the connection.
func secure(ctx context.Context, conn net.Conn, e kit.Endpoint, host string) (text string, err error) {
	if e.TLS == nil {
		return "none: plain text", nil
	}
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end) // it fails only on a closed connection, on which the next call also fails
	}
	if e.Hello != nil {
		answer := make([]byte, 1)
		if _, err = conn.Write(e.Hello); err == nil {
			_, err = conn.Read(answer)
		}
		switch {
		case err != nil:
			return "", err
		case answer[0] != 'S' && e.Optional:
			return "the server has none, and it is not required: plain text", nil
		case answer[0] != 'S':
			return "", errors.New("the server has none")
		}
	}
	config := e.TLS.Clone()
	if config.ServerName == "" {
		config.ServerName = host
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return "", err
	}
	state := secured.ConnectionState()
	return tls.VersionName(state.Version) + ", " + subject(state.PeerCertificates[0]), nil
}

// subject returns the names in a certificate and the end of its validity.
func subject(cert *x509.Certificate) string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	return fmt.Sprintf("a certificate for %s until %s (%s)", strings.Join(names, ", "), cert.NotAfter.UTC().Format(time.DateOnly), format.Age(time.Until(cert.NotAfter)))
}
