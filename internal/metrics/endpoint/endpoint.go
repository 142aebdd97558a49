package endpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

const (
	maxHeader      = 8 << 10 // net/http adds some bytes to it
	maxConnections = 64
	readWithin     = 5 * time.Second
	scrapeWithin   = 5 * time.Second
	writeWithin    = 10 * time.Second
	idleWithin     = 30 * time.Second
	endWithin      = time.Second
)

// Options name the Source of the metrics, and the log for failed scrapes.
type Options struct {
	Of     Source
	Logger *slog.Logger
}

// Source has the metrics and the health of the program. The text of Ready, and both errors, are sent to whoever asks.
type Source interface {
	prometheus.Collector
	Alive() error
	Ready() (string, error)
}

// ErrAddress reports an address that is not written as one.
var ErrAddress = errors.New("no address")

// Listen opens a port. An address is HOST:PORT, or only PORT or :PORT for the loopback interface: other machines can
// connect only if HOST says so. The error of one that is not written so wraps ErrAddress.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return nil, failure.With(fmt.Errorf("--listen takes HOST:PORT or PORT, such as 127.0.0.1:9595, not %q", address), ErrAddress)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	address = net.JoinHostPort(host, port)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("cannot listen on %s: another program does: choose another port with --listen", address)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return l, nil
}

// Run serves until ctx ends. It closes l.
func Run(ctx context.Context, l net.Listener, o Options) error {
	server := &http.Server{
		Handler: o.handler(), ReadTimeout: readWithin, WriteTimeout: writeWithin, IdleTimeout: idleWithin,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		ConnState: new(connections).changed,
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	spawn.Go(ctx, &running, func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
		if server.Shutdown(end) != nil { // a client is slow
			_ = server.Close()
		}
	})
	err := server.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics on %s: %w", l.Addr(), err)
	}
	return nil
}

// connections bounds the number of open connections: a new one closes the one that has asked for nothing for longest,
// or else the one whose request came first, so that clients which only keep connections open keep nobody out.
type connections struct {
	mu   sync.Mutex
	list []connection // the one whose state changed first is first
}

type connection struct {
	net.Conn
	active bool // a request is in work
}

// changed is a hook of http.Server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := len(c.list)
	c.list = slices.DeleteFunc(c.list, func(o connection) bool { return o.Conn == conn })
	if state == http.StateClosed || state != http.StateNew && len(c.list) == known { // it was closed here
		return
	}
	if len(c.list) == maxConnections {
		first := max(slices.IndexFunc(c.list, func(o connection) bool { return !o.active }), 0)
		_ = c.list[first].Close() // its client may be gone
		c.list = slices.Delete(c.list, first, first+1)
	}
	c.list = append(c.list, connection{conn, state == http.StateActive})
}

// handler returns the handler of all paths.
func (o *Options) handler() http.Handler {
	all := prometheus.NewRegistry()
	all.MustRegister(o.Of) // the only one, so that nothing is registered twice
	scrape := promhttp.HandlerFor(all, promhttp.HandlerOpts{
		EnableOpenMetrics: true, ErrorHandling: promhttp.ContinueOnError,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	})
	var one sync.Mutex
	// TimeoutHandler keeps the answer in memory, so that the lock is not held while it is sent.
	mux := http.NewServeMux()
	mux.Handle("/metrics", http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		scrape.ServeHTTP(w, r)
	}), scrapeWithin, "coordtop is busy: the metrics took more than 5 s\n"))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, "ok", o.Of.Alive()) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		text, err := o.Of.Ready()
		say(w, text, err)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ContentLength != 0: // -1: not known before
			w.Header().Set("Connection", "close")
			http.Error(w, "a request for metrics has no body", http.StatusRequestEntityTooLarge)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// say answers with a line.
func say(w http.ResponseWriter, text string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, text) // the client may be gone
}
