package kit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"coordtop/internal/ground/raced"
	"coordtop/sources"
)

// alien is a server of an unknown kind.
func alien() Contact {
	return Contact{
		Where: "h:1", User: "ann", Database: "db", Opening: true,
		Words: Words{
			Product: "an Alien", NoTLS: "write a://", OnlyTLS: "write as://", Authority: "ca", Certificate: "cert",
			Password: "it with password_env", Full: "its limit",
		},
	}
}

func TestEveryFailureHasOneSentence(t *testing.T) {
	t.Parallel()
	want := [failures]string{
		sources.NoHost:         "there is no host by the name in h:1: check its spelling, or the name server",
		sources.NoNameServer:   "the name server does not answer for h:1: check the network",
		sources.NothingListens: "nothing listens at h:1: check host and port, and whether the server runs",
		sources.NoSocket:       "there is no socket at h:1: check the path, and whether the server runs",
		sources.NoRoute:        "there is no route to h:1: check the address and the network",
		sources.Forbidden:      "this machine does not allow connections to h:1: check the rights of the socket, or the firewall",
		sources.NoAnswer:       "no answer from h:1: check host and port, and whether an Alien listens there",
		sources.ClosedAtOnce:   "h:1 closes the connection at once: it may not be an Alien, have no room for us (its limit), want TLS (write as://), or be stopping",
		sources.Foreign:        "h:1 is not an Alien: check host and port (so it says)",
		sources.Other:          "h:1 is so it says",
		sources.Lies:           "h:1 sent so it says: it is not an Alien, or something between changes its answers: check host and port",
		sources.NoTLS:          "the server at h:1 speaks no TLS: write a://",
		sources.OnlyTLS:        "the server at h:1 speaks only TLS: write as://",
		sources.TLSFailed:      "the server at h:1 breaks off TLS: it may want a certificate of ours (cert), or speak no TLS (write a://) (so it says)",
		sources.Untrusted:      "the certificate of h:1 is signed by an authority that is not trusted: name it with ca",
		sources.BadCertificate: "the certificate of h:1 is not accepted: check the name in the URL, and until when it is valid (so it says)",
		sources.Unopened:       "cannot connect to h:1: so it says",
		sources.Silent:         "no answer from h:1 for 3s",
		sources.Closed:         "h:1 closed the connection",
		sources.Broken:         "the connection to h:1 broke: so it says",
		sources.GivenUp:        "watching h:1 was given up",
		sources.NoPassword:     "the server at h:1 wants a password for ann: give it with password_env (so it says)",
		sources.WrongPassword:  "the server at h:1 refuses the password of ann: check both (so it says)",
		sources.NoSecret:       "the server at h:1 wants an auth token: give it with password_env (so it says)",
		sources.WrongSecret:    "the server at h:1 refuses our auth token: check it (so it says)",
		sources.WrongLogin:     "the server at h:1 refuses our credentials: they may have run out (so it says)",
		sources.NotLetIn:       "the server at h:1 does not let ann in: check the user (so it says)",
		sources.NoRight:        "ann lacks a right at h:1: so it says",
		sources.NoDatabase:     "the server at h:1 has no database db: check it in the URL (so it says)",
		sources.Full:           "the server at h:1 has no connection left for ann: see its limit (so it says)",
		sources.NotNow:         "the server at h:1 cannot serve us now: so it says",
		sources.Stopping:       "the server at h:1 ended our session, or is stopping (so it says)",
		sources.Refuses:        "the server at h:1 refuses: so it says",
	}
	seen := map[string]bool{}
	for f := range failures {
		c := alien()
		c.Silence = 3 * time.Second
		cause := errors.New("cause")
		p := c.Problem(f, cause, "so it says")
		if p.Text != want[f] || seen[p.Text] {
			t.Errorf("%d: %q\nwant %q, once", f, p.Text, want[f])
		}
		seen[p.Text] = true
		if !errors.Is(p, cause) || errors.Is(p, sources.ErrSilent) != (f == sources.NoAnswer || f == sources.Silent) {
			t.Errorf("%q: caused by %v", p.Text, p.Cause)
		}
		if login := f == sources.NoPassword || f == sources.WrongPassword || f == sources.NoSecret || f == sources.WrongSecret || f == sources.WrongLogin || f == sources.NotLetIn; p.Login != login || login && !p.Refused {
			t.Errorf("%q: login %v, refused %v", p.Text, p.Login, p.Refused)
		}
		c.Where, c.User, c.Silence = "h:1, h:2", "", 0
		bare := c.Problem(f, cause, "").Text
		if strings.ContainsAny(bare, "{}") || strings.Contains(bare, "  ") || strings.Contains(bare, "()") || !strings.Contains(bare, "h:1, h:2") {
			t.Errorf("without words of its own: %q", bare)
		}
	}
}

func TestAUserOrADatabaseThatMayBeASecretIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hunter2", "TOPSECRET", "/hunter2", "/prod/hunter2", "hunter2@h", "hunter hunter", "thisisnotlikeaname", "h\x1b[2J", "123456789"} {
		for f := range failures {
			c := alien()
			c.User, c.Database = name, name
			text := c.Problem(f, errors.New("cause"), "no role \""+name+"\", no database "+strings.TrimPrefix(name, "/")).Text
			if strings.Contains(text, strings.TrimPrefix(name, "/")) {
				t.Errorf("%q is repeated: %s", name, text)
			}
		}
	}
	c := alien()
	c.User, c.Database = "batch-user", "/prod/jobs"
	if text := c.Problem(sources.NotLetIn, nil, "").Text + c.Problem(sources.NoDatabase, nil, "").Text; !strings.Contains(text, "let batch-user in") || !strings.Contains(text, "no database /prod/jobs:") {
		t.Errorf("names are lost: %s", text)
	}
}

func TestSentencesAreShortCleanAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it masks some hundred megabytes in one goroutine")
	secrets, mega := []string{"hunter2%zz", "päss wörd", "a"}, 1<<20
	if testing.Short() {
		mega = 1 << 14
	}
	for name, hostile := range map[string]string{
		"5 MB":                strings.Repeat("x", 5*mega),
		"5 MB of secrets":     strings.Repeat("hunter2%zz", mega/2),
		"5 MB of lines":       strings.Repeat("\n", 5*mega) + "end",
		"escape sequences":    "\x1b[2J\x1b]52;c;aGk=\a\u202e\u200b\xff\x00\r\nnext\n\tline",
		"secrets":             "unknown command AUTH hunter2%zz päss wörd",
		"a secret at the cut": strings.Repeat("x", longestSaid-3) + "hunter2%zz",
		"secrets of a URL":    "redis://u:hunter2%25zz@h p%C3%A4ss+w%C3%B6rd p%C3%A4ss%20w%C3%B6rd",
		"braces":              "{where} {said} {user}",
	} {
		for f := range failures {
			for _, said := range []string{hostile, ""} {
				c := alien()
				c.Secrets = secrets
				if said == "" {
					c.Where, c.User, c.Database = hostile, hostile, hostile
				}
				text := c.Problem(f, nil, said).Text
				if len(text) > 5000 {
					t.Errorf("%s: %d bytes", name, len(text))
				}
				if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(text, `\n`) {
					t.Errorf("%s: %q", name, text)
				}
				for _, secret := range []string{"hunter2", "hunt", "wörd", "w%C3%B6rd"} {
					if said != "" && strings.Contains(text, secret) {
						t.Errorf("%s: %q is in %q", name, secret, text)
					}
				}
			}
		}
	}
}

func TestOfASocketThePathIsToBeChecked(t *testing.T) {
	t.Parallel()
	c := alien()
	c.Where = "/run/a.sock"
	for _, f := range []sources.Failure{sources.NothingListens, sources.NoAnswer, sources.Foreign, sources.Lies} {
		if text := c.Problem(f, nil, "").Text; !strings.Contains(text, "check the path") || strings.Contains(text, "port") {
			t.Error(text)
		}
	}
	if text := c.mistaken(nil, "a web server").Error(); text != "/run/a.sock is a web server: check the path" {
		t.Error(text)
	}
}

func TestFailuresOfNetworksAreToldApart(t *testing.T) {
	t.Parallel()
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
	read := func(err error) error {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)}
	}
	for _, c := range []struct {
		err           error
		opening, life sources.Failure // failures: it is about something else
	}{
		{&net.DNSError{Name: "h", IsNotFound: true}, sources.NoHost, sources.NoHost},
		{&net.DNSError{Name: "h", IsTimeout: true}, sources.NoNameServer, sources.NoNameServer},
		{&net.DNSError{Name: "h", IsTemporary: true}, sources.NoNameServer, sources.NoNameServer},
		{dial(syscall.ECONNREFUSED), sources.NothingListens, sources.NothingListens},
		{dial(syscall.ENOENT), sources.NoSocket, sources.NoSocket},
		{dial(syscall.ENETUNREACH), sources.NoRoute, sources.NoRoute},
		{dial(syscall.EHOSTUNREACH), sources.NoRoute, sources.NoRoute},
		{dial(syscall.EACCES), sources.Forbidden, sources.Forbidden},
		{dial(syscall.ETIMEDOUT), sources.NoAnswer, sources.Silent},
		{os.ErrDeadlineExceeded, sources.NoAnswer, sources.Silent},
		{context.DeadlineExceeded, sources.NoAnswer, sources.Silent},
		{sources.ErrSilent, sources.NoAnswer, sources.Silent},
		{context.Canceled, sources.GivenUp, sources.GivenUp},
		{ErrClosed, sources.GivenUp, sources.GivenUp},
		{read(syscall.ECONNRESET), sources.ClosedAtOnce, sources.Closed},
		{io.EOF, sources.ClosedAtOnce, sources.Closed},
		{io.ErrUnexpectedEOF, sources.ClosedAtOnce, sources.Closed},
		{read(syscall.EPIPE), sources.ClosedAtOnce, sources.Closed},
		{dial(syscall.EMFILE), sources.Unopened, sources.Broken},
		{tls.RecordHeaderError{}, sources.NoTLS, sources.NoTLS},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, sources.TLSFailed, sources.TLSFailed},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, sources.Untrusted, sources.Untrusted},
		{&tls.CertificateVerificationError{Err: errors.New("expired")}, sources.BadCertificate, sources.BadCertificate},
		{errors.New("something else"), failures, failures},
	} {
		for _, opening := range []bool{true, false} {
			want := c.life
			if opening {
				want = c.opening
			}
			contact := alien()
			contact.Opening = opening
			if got, _ := contact.network(fmt.Errorf("doing it: %w", c.err)); got != want {
				t.Errorf("%v, opening %v: %d, want %d", c.err, opening, got, want)
			}
			if err := contact.Unreached(c.err); (err == nil) != (want == failures) || err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v, opening %v: %v", c.err, opening, err)
			}
		}
	}
	c := alien()
	c.TLS = true
	if got, _ := c.network(io.EOF); got != sources.TLSFailed {
		t.Errorf("hung up on TLS: %d", got)
	}
}

func TestProblemsKeepTheirCauseAndSayWhetherTheyAreFinal(t *testing.T) {
	t.Parallel()
	refused := &sources.Problem{Text: "no", Cause: &net.DNSError{}, Refused: true}
	if !errors.Is(refused, sources.ErrRefused) || errors.Is(refused, sources.ErrCredentials) || !errors.As(refused, new(*net.DNSError)) {
		t.Errorf("%v", refused)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, fmt.Errorf("%w within 5s", sources.ErrSilent))
	defer cancel()
	<-ctx.Done()
	err := sources.WithContextCause(ctx, fmt.Errorf("connecting: %w", refused))
	if err.Error() != "no" || !errors.Is(err, sources.ErrSilent) || !errors.Is(err, sources.ErrRefused) {
		t.Errorf("%v: a sentence does not stay as it is", err)
	}
}
