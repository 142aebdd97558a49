package job_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"coordtop/coord"
	"coordtop/internal/job"
)

// longEnough bounds every wait for an event.
const longEnough = 20 * time.Second

// runnerVariable makes this test binary a runner: a process that calls job.Run under a lease whose end the test decides.
const runnerVariable = "COORDTOP_JOB_RUNNER"

func TestMain(m *testing.M) {
	if code, was := job.Watchdog(); was {
		os.Exit(code)
	}
	if text := os.Getenv(runnerVariable); text != "" {
		os.Exit(beRunner(text))
	}
	goleak.VerifyTestMain(m)
}

// order is what a runner shall do.
type order struct {
	Args          []string
	Trust, Window time.Duration // on the boot-time clock
	First         time.Duration // the end of a window that is renewed when it was read; 0: there is only Window
	Grace         time.Duration
	Fence         uint64
	Folder        string
	Link          string // the address of a server to connect to, with job.Options.KeepLinks; "": none
	Times         int    // how often; 0: once
}

// outcome is what Run returned, as text.
type outcome struct {
	Code    int
	Lost    string
	Stopped syscall.Signal
	Left    bool
	Err     string
}

// lease is a job.Lease whose ends come from a pipe.
type lease struct {
	ctx context.Context
	end context.CancelCauseFunc

	mu            sync.Mutex
	first         time.Duration // see order; -1 once it was read, 0 once the renewal was noticed
	trust, window time.Duration
	renewed       chan struct{}
}

func boot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

func at(d time.Duration) time.Time { return time.Now().Add(d - boot()) }

func (l *lease) Context() context.Context { return l.ctx }
func (l *lease) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if boot() >= l.trust {
		l.end(coord.ErrExpired)
	}
	return context.Cause(l.ctx)
}
func (l *lease) TrustedUntil() time.Time { l.mu.Lock(); defer l.mu.Unlock(); return at(l.trust) }
func (l *lease) WindowEnd() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.first; first > 0 {
		l.first = -1
		l.renew()
		return at(first)
	}
	return at(l.window)
}
func (l *lease) Renewed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first < 0 {
		l.first = 0
		<-time.After(50 * time.Millisecond) // in which a watchdog acts on the first end, if it knows it
	}
	return l.renewed
}

// keep expires the lease in time.
func (l *lease) keep() {
	for l.Check() == nil {
		l.mu.Lock()
		left, renewed := l.trust-boot(), l.renewed
		l.mu.Unlock()
		select {
		case <-time.After(left):
		case <-renewed:
		case <-l.ctx.Done():
		}
	}
}

// obey reads lines: "renew TRUST WINDOW", "lose".
func (l *lease) obey(lines io.Reader) {
	for s := bufio.NewScanner(lines); s.Scan(); {
		if s.Text() == "lose" {
			l.end(coord.ErrLost)
			continue
		}
		l.mu.Lock()
		if _, err := fmt.Sscanf(s.Text(), "renew %d %d", &l.trust, &l.window); err != nil {
			panic(err)
		}
		l.renew()
		l.mu.Unlock()
	}
}

// renew reports a renewal. The caller holds mu.
func (l *lease) renew() {
	close(l.renewed)
	l.renewed = make(chan struct{})
}

func beRunner(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	lines, results := os.NewFile(3, "lines"), os.NewFile(4, "results")
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	if o.Link != "" {
		link, err := net.Dial("tcp", o.Link)
		if err != nil {
			panic(err)
		}
		defer link.Close()
	}
	for range max(1, o.Times) {
		l := &lease{first: o.First, trust: o.Trust, window: o.Window, renewed: make(chan struct{})}
		l.ctx, l.end = context.WithCancelCause(context.Background())
		go l.keep()
		go l.obey(lines)
		r, err := job.Run(context.Background(), l, job.Options{
			Args: o.Args, Env: slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, runnerVariable) }),
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Name: "nightly", Owner: "tester", Fence: o.Fence, Grace: o.Grace, Folder: o.Folder, KeepLinks: o.Link != "",
			Say: func(s string) { fmt.Fprintln(os.Stderr, "coordtop:", s) },
		})
		said := outcome{Code: r.Code, Stopped: r.Stopped, Left: r.Left}
		if r.Lost != nil {
			said.Lost = r.Lost.Error()
		}
		if err != nil {
			said.Err = err.Error()
		}
		if err := json.NewEncoder(results).Encode(said); err != nil {
			panic(err)
		}
	}
	return 0
}

// runner is a process that runs a command for a test.
type runner struct {
	t       *testing.T
	cmd     *exec.Cmd
	folder  string
	orders  *os.File // to the lease
	results *bufio.Reader
	out     *bufio.Reader // what the command prints
	stderr  func() string // what job has said, and the standard error of the command
	over    chan struct{} // closed when the process was waited for
}

// begin starts a runner with a lease of a minute, unless change says otherwise.
func begin(t *testing.T, change func(*order, *exec.Cmd), args ...string) *runner {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := prepare(t, exec.Command(self), change, args)
	saying, err := os.Create(r.folder + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer saying.Close()
	out, printed := pipe(t)
	if r.cmd.Stdout == nil {
		r.cmd.Stdout = printed
	}
	r.cmd.Stderr, r.out = saying, bufio.NewReader(out)
	r.stderr = func() string {
		text, err := os.ReadFile(saying.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	r.start()
	printed.Close()
	return r
}

// prepare makes a process a runner, or what starts one.
func prepare(t *testing.T, cmd *exec.Cmd, change func(*order, *exec.Cmd), args []string) *runner {
	t.Helper()
	r := &runner{t: t, cmd: cmd, folder: t.TempDir(), over: make(chan struct{})}
	now := boot()
	o := order{Args: args, Trust: now + time.Minute, Window: now + time.Minute, Folder: r.folder}
	r.cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR=")
	lines, orders := pipe(t)
	results, sent := pipe(t)
	r.orders, r.results, r.cmd.ExtraFiles = orders, bufio.NewReader(results), []*os.File{lines, sent}
	if change != nil {
		change(&o, r.cmd)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	r.cmd.Env = append(r.cmd.Env, runnerVariable+"="+string(text))
	return r
}

// start starts the process; the test kills it at its end.
func (r *runner) start() {
	r.t.Helper()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	for _, f := range r.cmd.ExtraFiles {
		f.Close()
	}
	go func() { _ = r.cmd.Wait(); close(r.over) }()
	r.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // its only error is that it has ended
		<-r.over
	})
}

func pipe(t *testing.T) (from, to *os.File) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := from.SetReadDeadline(time.Now().Add(longEnough)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.Close(); to.Close() })
	return from, to
}

// line reads a line that the command has printed.
func (r *runner) line() string {
	r.t.Helper()
	text, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Fatalf("the command printed no line: %v; %s", err, r.stderr())
	}
	return strings.TrimSuffix(text, "\n")
}

// number reads a line with a number.
func (r *runner) number() (n int) {
	r.t.Helper()
	if _, err := fmt.Sscan(r.line(), &n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// rest reads the output until nobody has it open.
func (r *runner) rest() string {
	r.t.Helper()
	text, err := io.ReadAll(r.out)
	if err != nil {
		r.t.Fatalf("the output is not closed: %v", err)
	}
	return string(text)
}

func (r *runner) tell(format string, args ...any) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.orders, format+"\n", args...); err != nil {
		r.t.Fatal(err)
	}
}

// renew confirms the lease: it is trusted for so long, and the service keeps it for so long.
func (r *runner) renew(trust, window time.Duration) {
	r.t.Helper()
	now := boot()
	r.tell("renew %d %d", now+trust, now+window)
}

func (r *runner) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// outcome waits for the end of Run.
func (r *runner) outcome() (o outcome) {
	r.t.Helper()
	text, err := r.results.ReadString('\n')
	if err = errors.Join(err, json.Unmarshal([]byte(text), &o)); err != nil {
		r.t.Fatalf("Run did not return: %v; %s", err, r.stderr())
	}
	return o
}

// want checks the end of Run.
func (r *runner) want(want outcome) {
	r.t.Helper()
	if got := r.outcome(); got != want {
		r.t.Errorf("got %+v, want %+v; %s", got, want, r.stderr())
	}
}

// await polls until ok returns true.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(longEnough); !ok(); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// alive reports whether a process exists and has not ended.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return after[0] != 'Z' && after[0] != 'X'
}

// awaitDead waits until none of some processes is alive.
func awaitDead(t *testing.T, pids ...int) {
	t.Helper()
	await(t, fmt.Sprintf("the end of %v", pids), func() bool { return !slices.ContainsFunc(pids, alive) })
}
