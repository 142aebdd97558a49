package endpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// source is a Source of one large metric.
type source struct {
	prometheus.Collector
	value   string
	sick    atomic.Bool
	inWork  atomic.Int32
	most    atomic.Int32
	blocked chan struct{} // nil: a scrape takes no time
}

var about = prometheus.NewDesc("x", "X.", []string{"label"}, nil)

func (*source) Describe(out chan<- *prometheus.Desc) { out <- about }

func (s *source) Collect(out chan<- prometheus.Metric) {
	s.most.Store(max(s.most.Load(), s.inWork.Add(1)))
	defer s.inWork.Add(-1)
	if s.blocked != nil {
		<-s.blocked
	}
	out <- prometheus.MustNewConstMetric(about, prometheus.GaugeValue, 1, s.value)
}

func (s *source) Alive() error {
	if s.sick.Load() {
		return errors.New("sick")
	}
	return nil
}

func (s *source) Ready() (string, error) { return "watching", s.Alive() }

// serving serves s until the test ends, and returns its address.
func serving(t *testing.T, s *source) string {
	t.Helper()
	l, err := Listen(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, l, Options{Of: s, Logger: slog.New(slog.DiscardHandler)}) }() // received below
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// ask sends a request as it is written, and returns the status and the text of the answer.
func ask(t *testing.T, address, request string) (int, string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err = io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil && r.StatusCode < 400 { // what the server did not read may end the connection
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestOnlySmallRequestsForWhatThereIsAreAnswered(t *testing.T) {
	t.Parallel()
	s := &source{value: "v"}
	address := serving(t, s)
	const host = " HTTP/1.1\r\nHost: x\r\n"
	for _, c := range []struct {
		request string
		status  int
		text    string
	}{
		{"GET /metrics" + host + "\r\n", 200, `x{label="v"} 1`},
		{"GET /metrics" + host + "Accept: application/openmetrics-text; version=1.0.0\r\n\r\n", 200, "# EOF"},
		{"GET /healthz" + host + "\r\n", 200, "ok\n"},
		{"GET /readyz" + host + "\r\n", 200, "watching\n"},
		{"GET /" + host + "\r\n", 404, ""},
		{"GET /debug/pprof/" + host + "\r\n", 404, ""},
		{"DELETE /metrics" + host + "\r\n", 405, ""},
		{"POST /metrics" + host + "Content-Length: 1073741824\r\n\r\nx", 413, ""},
		{"POST /metrics" + host + "Expect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n", 413, ""},
		{"GET /metrics" + host + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", 413, ""},
		{"GET /metrics" + host + "X: " + strings.Repeat("x", 20_000) + "\r\n\r\n", 431, ""},
		{"nonsense\r\n\r\n", 400, ""},
	} {
		if status, text := ask(t, address, c.request); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%.60q: %d %q", c.request, status, text)
		}
	}
	s.sick.Store(true)
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, text := ask(t, address, "GET "+path+host+"\r\n"); status != 503 || text != "sick\n" {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
}

// TestASlowClientDelaysNobody has clients that read nothing of a large answer.
func TestASlowClientDelaysNobody(t *testing.T) {
	t.Parallel()
	address := serving(t, &source{value: strings.Repeat("v", 8<<20)})
	for range 3 {
		slow, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = slow.Close() }()
		if err = slow.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		if _, err = io.WriteString(slow, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err = io.ReadFull(slow, make([]byte, 100)); err != nil { // the answer has begun
			t.Fatal(err)
		}
	}
	if status, text := ask(t, address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); status != 200 || len(text) < 8<<20 {
		t.Errorf("%d, %d bytes", status, len(text))
	}
}

func TestOneScrapeIsInWorkAtATime(t *testing.T) {
	t.Parallel()
	s := &source{value: "v", blocked: make(chan struct{})}
	address := serving(t, s)
	done := make(chan error, 5)
	for range cap(done) {
		go func() { // received below
			r, err := http.Get("http://" + address + "/metrics")
			if err == nil && r.StatusCode != 200 {
				err = fmt.Errorf("status %d", r.StatusCode)
			}
			if r != nil {
				_ = r.Body.Close()
			}
			done <- err
		}()
	}
	for range cap(done) {
		s.blocked <- struct{}{}
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := s.most.Load(); n != 1 {
		t.Errorf("%d at a time", n)
	}
}

func TestOnlyAnAddressThatSaysSoIsOpenToOthers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", ":0", "127.0.0.1:0", "localhost:0"} {
		l, err := Listen(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
			t.Errorf("%s listens on %s", text, l.Addr())
		}
		_, err = Listen(t.Context(), l.Addr().String())
		if want := "cannot listen on " + l.Addr().String() + ": another program does: choose another port with --listen"; err == nil || err.Error() != want {
			t.Errorf("a port that is taken: %v", err)
		}
		_ = l.Close()
	}
	for _, text := range []string{"x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "1:2:3", "http://localhost:9595"} {
		if _, err := Listen(t.Context(), text); err == nil || !strings.Contains(err.Error(), "listen") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestConnectionsThatAskForNothingKeepNobodyOut has as many of them as may be open. Their own time-outs would close all
// at once.
func TestConnectionsThatAskForNothingKeepNobodyOut(t *testing.T) {
	t.Parallel()
	const request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, begun := range []string{"", request[:8], request} {
		address := serving(t, &source{value: "v"})
		var list []net.Conn
		for range maxConnections {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err = io.WriteString(conn, begun); err != nil {
				t.Fatal(err)
			}
			list = append(list, conn)
		}
		if status, text := ask(t, address, request); status != 200 {
			t.Errorf("after connections that sent %q: %d %q", begun, status, text)
		}
		last := list[len(list)-1]
		if _, err := io.WriteString(last, request[len(begun)%len(request):]); err != nil {
			t.Error(err)
		}
		if r, err := http.ReadResponse(bufio.NewReader(last), nil); err != nil || r.StatusCode != 200 {
			t.Errorf("the last one of those that sent %q: %v", begun, err)
		}
		if _, err := io.Copy(io.Discard, list[0]); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the first one of those that sent %q: %v", begun, err)
		}
	}
}

// TestAConnectionThatIsUsedStaysOpen has as many others as may be open, which have asked for nothing for longer.
func TestAConnectionThatIsUsedStaysOpen(t *testing.T) {
	t.Parallel()
	address := serving(t, &source{value: "v"})
	var used net.Conn
	for i := range 2 * maxConnections {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if used == nil {
			used = conn
		}
		for _, asks := range []net.Conn{conn, used} {
			if _, err := io.WriteString(asks, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			r, err := http.ReadResponse(bufio.NewReader(asks), nil)
			if err != nil {
				t.Fatalf("connection %d: %v", i, err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
		}
	}
}
