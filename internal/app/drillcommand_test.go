package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// drilled is what a drill prints as JSON.
type drilled struct {
	Early  *string `json:"ended_early"`
	Rounds []struct {
		Leader, Next struct{ ID, Label string }
		OwnMS        *spanMS `json:"own_ms"`
		NobodyMS     *spanMS `json:"nobody_ms"`
		Acted        time.Time
		ActedAfter   time.Time `json:"acted_after"`
	}
	Figures []struct {
		Length string
		Count  int
	}
}

type spanMS struct{ Min, Max float64 }

// drills starts a drill of short rounds as a process.
func drills(t *testing.T, args ...string) *kept {
	t.Helper()
	return holds(t, append([]string{"drill", "-o", "json", "--pause", "300ms"}, args...)...)
}

// result waits for the end of a drill and reads what it printed.
func (h *kept) result(code int) (d drilled) {
	h.t.Helper()
	h.ends(code)
	if err := json.Unmarshal([]byte(h.out.String()), &d); err != nil {
		h.t.Fatalf("%v: %s%s", err, h.out, h.errs)
	}
	return d
}

// round waits until the round of that number is over: its line is on standard error.
func (h *kept) round(n int) {
	h.t.Helper()
	h.errs.await(h.t, func(s string) bool { return strings.Contains(s, fmt.Sprintf("round %d of ", n)) })
}

// drillStage is a server with an election that nobody uses.
type drillStage struct {
	url   string
	owner func() string // who owns it by the test's own client; "": nobody does
}

func drillStages() map[string]func(*testing.T) drillStage {
	return map[string]func(*testing.T) drillStage{
		"redis": func(t *testing.T) drillStage {
			s := localserver.RedisForTest(t, localserver.RedisOptions{})
			c := writer(t, s.Addr())
			return drillStage{s.URL() + "?election=app:leader:x", func() string { return c.Get(context.Background(), "app:leader:x").Val() }}
		},
		"postgres": func(t *testing.T) drillStage {
			s := localserver.PostgresForTest(t, localserver.PostgresOptions{})
			conn := login(t, s.URL(), "truth").conn
			return drillStage{s.URL() + "&election=4242", func() (owner string) {
				if err := conn.QueryRow(context.Background(), "select coalesce(max(pid), 0)::text from pg_locks where locktype = 'advisory' and granted").Scan(&owner); err != nil {
					t.Error(err)
				}
				return strings.Trim(owner, "0")
			}}
		},
		"ydb": func(t *testing.T) drillStage {
			s := ydbForTest(t, ydbtest.Options{})
			p := peer(t, s, "truth")
			return drillStage{s.URL(0) + "?node=" + ydbNode + "&election=fresh", func() string {
				d, err := p.Semaphore("fresh", coord.SemaphoreOptions{}).Describe(context.Background())
				if err != nil || len(d.Owners) == 0 {
					return ""
				}
				return d.Owners[0].ID
			}}
		},
		"dflockd": func(t *testing.T) drillStage {
			s, url := dflockd(t, dflocktest.Options{})
			return drillStage{url + "?election=x", func() string { return dflockdOwner(s) }}
		},
	}
}

// dflockdOwner returns who owns something on a server that knows only one key.
func dflockdOwner(s *dflocktest.Server) string {
	for _, e := range s.State().Entries {
		if len(e.Owners) > 0 {
			return fmt.Sprint("conn ", e.Owners[0].Conn)
		}
	}
	return ""
}

// seenOwner is what the test's own client sees: an owner, from the last look without it until the first with it.
type seenOwner struct {
	who         string
	after, from time.Time
}

// observeOwners reads the owner all the time, until stop is called, which returns what was seen.
func observeOwners(t *testing.T, owner func() string) (stop func() []seenOwner) {
	ctx, cancel := context.WithCancel(t.Context())
	var seen []seenOwner
	var looking sync.WaitGroup
	looking.Go(func() {
		for last := time.Now(); ctx.Err() == nil; {
			who := owner()
			if n := len(seen); n == 0 || seen[n-1].who != who {
				seen = append(seen, seenOwner{who, last, time.Now()})
			}
			last = time.Now()
			_ = backoff.Sleep(ctx, time.Millisecond/2)
		}
	})
	return func() []seenOwner {
		cancel()
		looking.Wait()
		return seen
	}
}

// pushTolerance is the largest error of the instant of a pushed change on Redis, see package redissource.
const pushTolerance = 25 * time.Millisecond

func TestTheLengthsOfADrillContainWhatAnotherClientSees(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"redis", "postgres"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			on := drillStages()[backend](t)
			stop := observeOwners(t, on.owner)
			d := drills(t, on.url, "--write", "--yes", "--rounds", "4", "--lease", "2s").result(exitOK)
			seen := stop()
			if len(d.Rounds) != 4 || d.Early != nil || d.Figures[0].Length != "own_ms" || d.Figures[0].Count != 4 {
				t.Fatalf("%+v", d)
			}
			i := 0
			for _, r := range d.Rounds[:3] { // the next leader of the last one resigns at once, perhaps before it is seen
				for ; seen[i].who == "" || !seen[i].from.After(r.ActedAfter); i++ { // the next owner
					if i+1 == len(seen) {
						t.Fatalf("the next owner of %+v was not seen: %+v", r, seen)
					}
				}
				least, most := time.Duration(0), seen[i].from.Sub(seen[i-1].after) // nobody owned it
				if seen[i-1].who == "" {
					least, most = seen[i].after.Sub(seen[i-1].from), seen[i].from.Sub(seen[i-1].after)
				}
				min, max := millisOf(least-pushTolerance), millisOf(most+pushTolerance)
				if r.NobodyMS.Min > max || r.NobodyMS.Max < min {
					t.Errorf("nobody owned it for %v ms; seen: %v to %v", *r.NobodyMS, least, most)
				}
				// The old one was dead before the server gave it away, and the next one knew only after that.
				if min := millisOf(seen[i].after.Sub(r.Acted)); r.OwnMS.Max < min {
					t.Errorf("no leader for %v ms; seen: at least %v ms; %+v", *r.OwnMS, min, r)
				}
			}
			if who := on.owner(); who != "" {
				t.Errorf("%s owns it afterwards", who)
			}
		})
	}
}

func millisOf(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func TestEachWayEndsLeadersWhereItMakesSense(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it starts a hundred processes; other tests drill each backend with the race detector")
	not := map[string]string{
		"stop postgres": "keeps a frozen leader", "release ydb": "the config may allow more", "release dflockd": "no command can free another's lock",
	}
	for backend, set := range drillStages() {
		for _, way := range []string{"kill", "stop", "cut", "resign", "release"} {
			t.Run(way+" "+backend, func(t *testing.T) {
				t.Parallel()
				on := set(t)
				h := drills(t, on.url, "--write", "--yes", "--rounds", "2", "--lease", "3s", "--how", way)
				if why := not[way+" "+backend]; why != "" {
					h.ends(exitCannot)
					if !strings.Contains(h.errs.String(), why) {
						t.Errorf("it does not say %q: %s", why, h.errs)
					}
				} else if d := h.result(exitOK); len(d.Rounds) != 2 || d.Rounds[0].OwnMS == nil || d.Rounds[1].Leader.ID != d.Rounds[0].Next.ID {
					t.Errorf("%+v", d)
				}
				if on.owner() != "" {
					t.Errorf("%s owns it afterwards", on.owner())
				}
				if backend == "ydb" {
					w := newWorld(t)
					if w.main(t.Context(), "wait", on.url, "--for", "absent", "--timeout", "5s") != exitOK {
						t.Errorf("what it created is left: %s", w.stderr)
					}
				}
			})
		}
	}
}

func TestATerminalShowsWhatADrillWaitsFor(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	cmd := command(t, "drill", "--write", "--yes", "--rounds", "1", "--how", "resign", "--pause", "300ms", s.URL()+"?election=app:leader:x")
	screen := onScreen(t, cmd)
	if code := ends(t, cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	screen.read.Wait()
	out := screen.String()
	for _, want := range []string{"coordtop: waiting until 2 candidates of our own campaign", "resigned, waiting for the next leader", "round 1 of 1: ", "1 of 1 rounds"} {
		_, after, ok := strings.Cut(out, want)
		if !ok {
			t.Fatalf("%q is not next in %q", want, out)
		}
		out = after
	}
}
