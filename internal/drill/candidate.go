package drill

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/coord"
	"coordtop/internal/ground/spawn"
)

// CandidateCommand is the hidden command of the binary that runs one candidate. The first line of its input is a Task.
const CandidateCommand = "drill-candidate"

// Task describes one candidate process. It has no secret: the process finds that in its own environment.
type Task struct {
	Argument    string // the NAME or URL of the drill, which the process resolves again
	Config      string // path of the config file; "": the usual one
	Space, Name string
	Label       string // what others see of it, at most 40 ASCII characters
	Data        bool   // the leader shows Label to others as its data
	// As in coord.SessionOptions.
	TTL, RenewEvery, StartTimeout time.Duration
	Retry                         coord.Backoff
}

// ReadTask reads the first line of a candidate's input.
func ReadTask(in *bufio.Reader) (t Task, err error) {
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &t)
	}
	if err != nil {
		return t, fmt.Errorf("reading what to campaign for: %w", err)
	}
	return t, nil
}

// said is one line of a candidate for its parent.
type said struct {
	Event  string
	At     time.Time // on the wall clock, which both processes share
	Owner  string    // of won: the candidate, as others see it
	Fence  uint64
	Detail string
}

// The events of said.
const (
	campaigns = "campaigns" // it has a session, and campaigns in it
	won       = "won"
	over      = "over" // its trust has ended
	isCut     = "cut"  // its connections are closed
	complains = "complains"
)

// RunCandidate campaigns and leads until its input or ctx ends, and resigns then. It writes a line at each event.
func RunCandidate(ctx context.Context, d coord.Driver, t Task, in *bufio.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	say := func(s said) {
		mu.Lock()
		defer mu.Unlock()
		s.At = time.Now().Round(0)
		line, _ := json.Marshal(s)            // texts, numbers and times are never refused
		_, _ = fmt.Fprintf(out, "%s\n", line) // a parent that does not read has ended, and so does our input
	}
	complain := func(err error) { say(said{Event: complains, Detail: err.Error()}) }
	spawn.Go(ctx, nil, func() { // ends with the input, or with the process: a read cannot be interrupted
		defer stop()
		for line := ""; line != isCut+"\n"; {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		if err := cutOff(); err != nil {
			complain(err)
			return
		}
		say(said{Event: isCut})
		_, _ = io.Copy(io.Discard, in) // until the parent closes it
	})
	o := coord.SessionOptions{Description: t.Label, TTL: t.TTL, RenewEvery: t.RenewEvery, StartTimeout: t.StartTimeout, Retry: t.Retry}
	o.OnState = func(c coord.StateChange) {
		if c.State == coord.StateOpen {
			say(said{Event: campaigns})
		} else if c.Err != nil {
			complain(c.Err)
		}
	}
	lead := coord.LeadOptions{OnError: complain, OnElected: func(ctx context.Context, term *coord.Term) error {
		say(said{Event: won, Owner: term.Lease().Owner(), Fence: term.Lease().Fence()})
		<-ctx.Done()
		say(said{Event: over})
		return nil
	}}
	if t.Data {
		lead.Data = []byte(t.Label)
	}
	err := coord.NewCandidate(d, o, t.Name, lead).Run(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, d.Close(undo))
}

// mostFiles bounds the descriptors that cutOff looks at. A candidate has some ten.
const mostFiles = 1024

// cutOff closes each network connection of this process for good, and keeps it from making another one: as after a
// cable was pulled whose other end answers with resets.
func cutOff() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("reading the limit of open files: %w", err)
	}
	limit.Cur = 0 // for new ones
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("allowing no more connections: %w", err)
	}
	var errs []error
	for fd := range mostFiles {
		if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
			continue // no socket
		}
		if err := unix.Shutdown(fd, unix.SHUT_RDWR); err != nil && !errors.Is(err, unix.ENOTCONN) {
			errs = append(errs, fmt.Errorf("closing a connection: %w", err))
		}
	}
	return errors.Join(errs...)
}
