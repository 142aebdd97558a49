package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/localserver"
)

// Options are the options of a demo.
type Options struct {
	Program      string       // the binary that knows CandidateCommand
	RedisPort    int          // 0: any free port
	PostgresPort int          // 0: any free port
	YDBPort      int          // 0: any free port
	DflockdPort  int          // 0: any free port
	PostgresBin  string       // folder of Postgres' programs; "": where systems install them
	Installing   string       // the log of a program that installs missing servers, see [Installed]; "": nothing is being installed
	Seed         uint64       // for all random pauses; the same seed gives the same pauses
	Story        bool         // failures are simulated, one after the other, see tellStory
	Log          *slog.Logger // never nil
}

// Endpoint is one server of the demo.
type Endpoint struct {
	Name string // "redis", "postgres", "ydb", "dflockd"
	URL  string // for any client, without our parameters
	View string // for coordtop; selects exactly the primitives of the scenario
	// Names has the names of Postgres locks that are only numbers, in the form of a config file. One lock has no name
	// on purpose.
	Names map[string]string
	Err   error // why the server could not be started, with what to do; URL and View are then ""
	// Waits returns the reason why a server that is being installed is not ready yet; nil if it is ready. Waits itself
	// is nil if the server was ready from the start.
	Waits func() error
}

// Demo is a running demo.
type Demo struct {
	options   Options
	servers   []server // nil if it could not be started; in the order of endpoints
	endpoints []Endpoint
	pending   []*pending // nil if the server is not being installed
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu      sync.Mutex
	members []*member
}

// Start starts the servers concurrently, and then the candidates. It starts goroutines, which Stop ends and waits for.
// A server that cannot be started is an error only if its port was set; otherwise its Endpoint has the error, with what
// to install. ctx bounds only the start.
func Start(ctx context.Context, o Options) (*Demo, error) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	all := backends(o)
	d := &Demo{options: o, servers: make([]server, len(all)), endpoints: make([]Endpoint, len(all)), pending: make([]*pending, len(all)), stop: stop}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var starting sync.WaitGroup
	for i, b := range all {
		spawn.Go(ctx, &starting, func() {
			if err := d.bringUp(ctx, i, b); err != nil && b.port != 0 {
				giveUp(err)
			}
		})
	}
	starting.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(err, d.Stop(context.WithoutCancel(ctx)))
	}
	for i, s := range d.servers { // not earlier, because candidates would delay the servers that are still starting
		if s != nil {
			d.startCandidates(life, s.URL(), all[i].contests, o.Seed+uint64(i)*seedsApart)
		} else if p := d.pending[i]; p != nil {
			spawn.Go(life, &d.running, func() { d.await(life, i, all[i], p) })
		}
	}
	if o.Story {
		spawn.Go(life, &d.running, func() { d.tellStory(life) })
	}
	return d, nil
}

// bringUp starts one server and fills in its endpoint.
func (d *Demo) bringUp(ctx context.Context, i int, b backend) error {
	d.endpoints[i].Name = b.name
	s, err := b.start(ctx, b.port)
	if err == nil {
		d.servers[i] = s
		d.show(i, b, s.URL())
		return nil
	}
	if d.options.Installing != "" && b.url != nil && errors.Is(err, localserver.ErrMissing) {
		p := &pending{port: b.port}
		if p.port == 0 {
			p.port, err = localserver.FreePort()
		}
		if p.port != 0 {
			p.say(fmt.Errorf("%s is being installed: see %s", b.name, d.options.Installing))
			d.pending[i], d.endpoints[i].Waits = p, p.waits
			d.show(i, b, b.url(p.port))
			return nil
		}
	}
	d.endpoints[i].Err = err
	return err
}

// show fills in the endpoint of a server at url.
func (d *Demo) show(i int, b backend, url string) {
	join := "?"
	if strings.Contains(url, "?") {
		join = "&"
	}
	d.endpoints[i].URL, d.endpoints[i].View, d.endpoints[i].Names = url, url+join+b.query, b.names
}

// The ids of the processes that lead begin at firstID. After idsApart starts, the ids of a process repeat.
const (
	firstID  = 4411
	idsApart = 20
)

// seedsApart is more than a server has candidates.
const seedsApart = 1000

// startCandidates starts the processes and, for each contest with replaceEvery, replaceOwners.
func (d *Demo) startCandidates(ctx context.Context, url string, contests []contest, seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, contest := range contests {
		var members []*member
		for _, name := range contest.names {
			seed++
			c := &member{contest: contest, name: name, firstID: firstID + idsApart*(len(d.members)+len(members)), url: url, program: d.options.Program, seed: seed, log: d.options.Log}
			if members = append(members, c); d.options.Story && contest.Role == RoleLeaker {
				c.restFor(leakAfter)
			}
			pause := between(seed, 2*time.Second, 6*time.Second)
			spawn.Go(ctx, &d.running, func() { c.run(ctx, pause) })
		}
		d.members = append(d.members, members...)
		if contest.replaceEvery[1] > 0 {
			pause := between(seed, contest.replaceEvery[0], contest.replaceEvery[1])
			spawn.Go(ctx, &d.running, func() { replaceOwners(ctx, members, pause) })
		}
	}
}

// replaceOwners stops the member that owns, after each pause.
func replaceOwners(ctx context.Context, members []*member, pause func() time.Duration) {
	for backoff.Sleep(ctx, pause()) == nil {
		for _, m := range members {
			if m.stopIfOwner() {
				break
			}
		}
	}
}

// between returns a function that returns random pauses. It is not safe for concurrent use.
func between(seed uint64, least, most time.Duration) func() time.Duration {
	r := rand.New(rand.NewPCG(seed, uint64(least)))
	return func() time.Duration { return least + time.Duration(r.Int64N(int64(most-least))) }
}

// Endpoints returns the servers, including those that could not be started.
func (d *Demo) Endpoints() []Endpoint { return d.endpoints }

// Stop ends the candidates, which resign, and then the servers, and waits for all of them. ctx bounds the wait for the
// servers; those that still run then are killed. A second call does nothing.
func (d *Demo) Stop(ctx context.Context) error {
	d.stop()
	d.running.Wait()
	errs := make([]error, len(d.servers))
	var stopping sync.WaitGroup
	for i, s := range d.servers {
		if s != nil {
			spawn.Go(ctx, &stopping, func() {
				if err := s.Stop(ctx); err != nil {
					errs[i] = fmt.Errorf("stopping %s: %w", d.endpoints[i].Name, err)
				}
			})
		}
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// Installed and NotInstalled begin the last line of the log of Options.Installing.
const (
	Installed    = "coordtop: installed"
	NotInstalled = "coordtop: not installed"
)

// pending is a server that is being installed.
type pending struct {
	port int
	why  atomic.Pointer[error]
}

func (p *pending) say(err error) { p.why.Store(&err) }
func (p *pending) waits() error  { return *p.why.Load() }

// await starts a server and its candidates after the server was installed.
func (d *Demo) await(ctx context.Context, i int, b backend, p *pending) {
	for backoff.Sleep(ctx, time.Second/4) == nil {
		text, _ := os.ReadFile(d.options.Installing) // it may not exist yet
		before, last := lastLine(string(text))
		switch {
		case strings.HasPrefix(last, NotInstalled):
			_, reason := lastLine(before)
			p.say(fmt.Errorf("%s could not be installed: %s: see %s", b.name, reason, d.options.Installing))
			return
		case strings.HasPrefix(last, Installed):
			s, err := b.start(ctx, p.port)
			if err == nil {
				d.servers[i] = s
				d.startCandidates(ctx, s.URL(), b.contests, d.options.Seed+uint64(i)*seedsApart)
			}
			p.say(err)
			return
		}
	}
}

// lastLine returns the last line of a text, and the text before it.
func lastLine(text string) (before, line string) {
	text = strings.TrimRight(text, "\n")
	at := strings.LastIndexByte(text, '\n') + 1
	return text[:at], text[at:]
}
