package notify_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coordtop/internal/notify"
)

// secret stands in the path of each URL. No error may have it.
const secret = "hook-s3cr3t"

// to is a Post to an address.
func to(address string) func(context.Context, []byte) error {
	return notify.Post(func(context.Context) (string, error) { return address, nil })
}

// deliver delivers a message within 300 ms, and checks what the error has and has not.
func deliver(t *testing.T, by func(context.Context, []byte) error, want string) {
	t.Helper()
	limit := time.Minute // a busy machine takes long for what answers at all
	if want == "no answer within 10 s" {
		limit = 300 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began := time.Now()
	got := ""
	if err := by(ctx, []byte(`{"v":1}`)); err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if took := time.Since(began); took > limit+10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAMessageIsPostedAsJSON(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := to(server.URL+"/"+secret)(ctx, []byte(`{"v":1}`)); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "POST /"+secret+` application/json {"v":1}` {
		t.Error(text)
	}
}

func TestAnHTTPServerThatDoesNotTakeAMessageIsReportedWithoutItsURL(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path, _ := strings.CutPrefix(r.URL.Path, "/"+secret); path {
		case "/hang":
			<-ended
		case "/fail":
			http.Error(w, r.URL.String(), http.StatusServiceUnavailable)
		case "/gone":
			http.Error(w, "", http.StatusNotFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusTemporaryRedirect)
		case "/moved":
			http.Redirect(w, r, "/"+secret+"/reached", http.StatusFound)
		case "/reached":
			reached = true
		case "/long":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case "/headers":
			for range 100 {
				w.Header().Add("X-Long", strings.Repeat("x", 2000))
			}
		}
	}))
	defer server.Close()
	defer close(ended)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := refused.Addr().String()
	_ = refused.Close()
	base := server.URL + "/" + secret
	for where, want := range map[string]string{
		base + "/hang":                     "no answer within 10 s",
		base + "/fail":                     "its URL answers 503 Service Unavailable",
		base + "/gone":                     "its URL answers 404 Not Found",
		base + "/file":                     "its URL answers with a redirect (307), which is not followed: write where it leads",
		base + "/moved":                    "its URL answers with a redirect (302), which is not followed: write where it leads",
		base + "/long":                     "",
		base + "/headers":                  "its URL cannot be reached",
		"http://" + address + "/" + secret: "its URL refuses connections",
		secure.URL + "/" + secret:          "the certificate of its URL is not trusted",
		strings.Replace(base, "http://", "https://", 1): "its URL does not answer with TLS",
		"ftp://127.0.0.1/" + secret:                     "its URL cannot be reached",
		"http://[::1/" + secret:                         "its URL is none",
	} {
		deliver(t, to(where), want)
	}
	if reached {
		t.Error("a redirect was followed")
	}
}

func TestACommandGetsTheMessageAndItsFailureIsReported(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "got")
	shell := func(script string) func(context.Context, []byte) error {
		return notify.Command([]string{"sh", "-c", script, secret})
	}
	slow, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := shell("cat > "+file)(slow, []byte(`{"v":1}`)); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != `{"v":1}` {
		t.Errorf("%s, %v", data, err)
	}
	if err := shell("head -c 20000000 /dev/zero; head -c 20000000 /dev/zero >&2")(slow, nil); err != nil {
		t.Error(err)
	}
	deliver(t, shell("sleep 60 & sleep 60"), "no answer within 10 s")
	if err := shell("echo $0 >&2; exit 3")(slow, nil); err == nil || err.Error() != "its command ended with exit status 3: run it by hand to see why" {
		t.Error(err)
	}
	deliver(t, notify.Command([]string{"/no/such/" + secret}), "its command is not there, or cannot be run")
}
