package recordtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/history"
	"coordtop/internal/history/postgres"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// between is an Output that calls f before the write with a number.
type between struct {
	record.Output
	left int
	f    func()
}

func (b *between) Write(batch *history.Batch) error {
	if b.left--; b.left == 0 {
		b.f()
	}
	return b.Output.Write(batch)
}

// team is a store of two recorders of a world.
type team struct {
	*testing.T
	lost
	o             postgres.Options
	spool, second *sqlite.Reader
	link          *localserver.Proxy // of the first to the store
}

// newTeam returns a store that has what the first recorder wrote before it lost the store.
func newTeam(t *testing.T, server *localserver.Postgres, l lost) *team {
	t.Helper()
	g := &team{T: t, lost: l, o: postgres.Options{Address: server.URL(), Schema: fmt.Sprintf("fill_%d", schemas.Add(1)), Keep: century, Full: century, Claim: &postgres.Claim{Lock: 1}}}
	g.spool, g.second = sqlite.NewReader(g.lost.spool), sqlite.NewReader(g.lost.second)
	at, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	g.link = localserver.ProxyForTest(t, at.Host)
	err = record.Copy(t.Context(), g.spool, history.Span{From: time.Unix(0, 0), To: g.cut}, false, func(r history.Run) (record.Output, error) { return g.begin(r) })
	if err != nil {
		t.Fatal(err)
	}
	g.o.Claim = &postgres.Claim{Lock: 2}
	return g
}

var schemas atomic.Int64

const century = 100 * 365 * 24 * time.Hour

func (g *team) begin(run history.Run) (*postgres.Writer, error) {
	return postgres.Begin(g.Context(), g.o, run)
}

func (g *team) sql(text string) {
	conn, err := pgx.Connect(g.Context(), g.o.Address)
	if err == nil {
		_, err = conn.Exec(g.Context(), "set search_path = "+g.o.Schema+"; "+text)
		err = errors.Join(err, conn.Close(g.Context()))
	}
	if err != nil {
		g.Error(err)
	}
}

// takeOver records what the second recorder saw. It calls f before its write with a number; if it has fewer, after the
// last one.
func (g *team) takeOver(before int, f func()) {
	done := make(chan struct{})
	close(done)
	var w *between
	forwarder := record.NewForwarder(record.ForwardOptions{From: g.second, Done: done,
		Since: func(_ context.Context, from []history.Run) (map[int64]time.Time, error) {
			since := map[int64]time.Time{}
			for _, run := range from {
				if w != nil { // all is copied
					since[run.ID] = record.EndOfTime
				}
			}
			return since, nil
		},
		Begin: func(_ context.Context, run history.Run) (record.Output, error) {
			store, err := g.begin(run)
			w = &between{store, before, f}
			return w, err
		}})
	if err := forwarder.Run(g.Context()); err != nil {
		g.Error(err)
	}
	if w.left > 0 {
		f()
	}
}

// fill lets the first recorder return. ahead are columns of both runs.
func (g *team) fill(ahead string) (refused int, err error) {
	g.sql(ahead)
	o := g.o
	at, _ := url.Parse(o.Address)
	at.Host = g.link.Addr()
	o.Address = at.String()
	ctx, cancel := context.WithTimeout(g.Context(), time.Minute)
	defer cancel()
	return record.Fill(ctx, record.ForwardOptions{From: g.spool}, g.ended, func(ctx context.Context) (record.Filling, error) {
		f, err := postgres.Fill(ctx, o, 1)
		if err != nil {
			return nil, err
		}
		return f, nil
	})
}

const sameClock = "update run set ahead_least = 0, ahead_most = 0"

// TestARecorderFillsTheTimeUntilItsSuccessor compares a store that a recorder lost and filled later with a file that it
// never lost. The answers to some of its commits are lost, too.
func TestARecorderFillsTheTimeUntilItsSuccessor(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	for name, c := range map[string]struct {
		seed   uint64
		before int // the number of a write of the second
	}{
		"before the second has written": {15, 1},
		"while the second writes":       {6, 4},
		"after a third has begun":       {16, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTeam(t, server, live(t, c.seed))
			for range 4 {
				g.link.Lose(localserver.Reply, "commit")
			}
			fill := func() {
				refused, err := g.fill(sameClock)
				if want := g.later(); err != nil || refused != want {
					t.Errorf("%d Inputs are refused, %v; want %d", refused, err, want)
				}
			}
			var running sync.WaitGroup
			g.takeOver(c.before, func() {
				switch name {
				case "while the second writes":
					running.Go(fill)
				case "after a third has begun":
					g.o.Claim = &postgres.Claim{Lock: 3}
					third, err := g.begin(history.Run{Span: history.Span{From: g.began.Add(time.Hour)}})
					if err != nil {
						t.Fatal(err)
					}
					fill()
					if err := errors.Join(third.Write(&history.Batch{Keyframe: []byte("k"), Span: third.Run().Span}), third.Close()); err != nil {
						t.Error(err)
					}
				default:
					fill()
				}
			})
			running.Wait()
			whole, _ := File(t, sqlite.NewReader(g.whole))
			span := history.Span{From: g.cut.Add(-time.Hour), To: g.cut.Add(time.Hour)}
			store := postgres.NewReader(g.o)
			got, want := told(t, store, span), told(t, whole, span)
			for _, line := range want {
				if !slices.Contains(got, line) {
					t.Errorf("- %s", line)
				}
			}
			for _, line := range got {
				if !slices.Contains(want, line) && !strings.Contains(line, " dark ") && !strings.HasPrefix(line, "run 3 ") { // more may be unobserved
					t.Errorf("+ %s", line)
				}
			}
			g.sameInputs(store)
		})
	}
	t.Run("nothing later", func(t *testing.T) { nothingLater(t, server) })
}

// later returns how many Inputs of the first recorder came after the second had begun.
func (g *team) later() int {
	n := 0
	for _, in := range pieces(g.T, g.spool) {
		if !in.At.Wall.Before(g.began) && !in.At.Wall.After(g.ended) {
			n++
		}
	}
	return n
}

// sameInputs compares what can be replayed of the first run with the spool.
func (g *team) sameInputs(store history.Log) {
	c, err := store.Cursor(g.Context(), 1, time.Time{})
	if err != nil {
		g.Fatal(err)
	}
	seq, all := uint64(0), pieces(g.T, g.spool)
	for {
		p, err := c.Next(g.Context())
		if err != nil {
			g.Fatal(err)
		}
		if p.Empty() {
			break
		}
		for _, in := range p.Inputs {
			if seq++; in.Seq != seq || !in.At.Wall.Equal(all[seq-1].At.Wall) {
				g.Fatalf("Input %d is %+v", seq, in)
			}
		}
	}
	if want := slices.IndexFunc(all, func(in sources.Input) bool { return !in.At.Wall.Before(g.began) }); int(seq) != want {
		g.Errorf("%d Inputs, want %d", seq, want)
	}
}

// nothingLater lets a recorder return whose clock differs, and asks for what is too late.
func nothingLater(t *testing.T, server *localserver.Postgres) {
	t.Parallel()
	seen := live(t, 15)
	for name, c := range map[string]struct {
		ahead string
		until time.Duration // after the begin of the next run
	}{
		"the clocks are compared within bounds": {"update run set ahead_least = (1 - id) * 1000000 - 1500000, ahead_most = (2 - id) * 1000000", -1500 * time.Millisecond},
		"the first clock is 5 minutes ahead":    {"update run set ahead_least = 300000000 * (2 - id), ahead_most = 300000000 * (2 - id)", 0},
		"the first clock is 5 minutes behind":   {"update run set ahead_least = -300000000 * (2 - id), ahead_most = -300000000 * (2 - id)", -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTeam(t, server, seen)
			ends := func() time.Time {
				runs, err := postgres.NewReader(g.o).Runs(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return runs[0].To
			}
			g.takeOver(1000, func() {
				before := ends()
				want := sources.Later(before, g.began.Add(c.until))
				if _, err := g.fill(c.ahead); err != nil != (want == before) || err != nil && !errors.Is(err, history.ErrSuperseded) {
					t.Error(err)
				}
				if got := ends(); !got.Equal(want) {
					t.Errorf("the first run ends %v after the begin of the next, want %v", got.Sub(g.began), want.Sub(g.began))
				}
			})
		})
	}
	g := newTeam(t, server, seen)
	if _, err := postgres.Fill(t.Context(), g.o, 1); !errors.Is(err, history.ErrBusy) {
		t.Errorf("no run has begun since: %v", err)
	}
	g.takeOver(1000, func() {
		if _, err := postgres.Fill(t.Context(), g.o, 1); !errors.Is(err, history.ErrBusy) {
			t.Errorf("the clocks were not compared: %v", err)
		}
		g.sql(sameClock)
		f, err := postgres.Fill(t.Context(), g.o, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		from := f.Run().To
		died := &history.Batch{Keyframe: []byte("k"), Span: history.Span{From: from, To: from.Add(time.Millisecond)}, Lanes: []history.LaneChange{
			{Ref: sources.Ref{Source: "s", Name: "new"}, Kind: sources.KindMutex, Scope: "one"},
			{Ref: sources.Ref{Source: "s", Name: "two/mutex"}, Kind: sources.KindMutex, Scope: "two"}},
			Dark: []history.DarkChange{{Ref: sources.Ref{Source: "s", Name: "two/mutex"}, Dark: sources.Dark{From: from, To: from.Add(time.Millisecond)}}}}
		if err := f.Write(died); err != nil {
			t.Error(err)
		}
		g.sql("do $$ begin assert (select count(*) from dark where run = 1 and until = start + 999999) = 1, 'a dark stretch is not stored'; end $$")
		lanes, err := postgres.NewReader(g.o).Lanes(t.Context(), nil, history.Span{From: from, To: g.began})
		if err != nil || len(lanes) < 3 {
			t.Errorf("%d lanes, %v", len(lanes), err)
		}
		for _, l := range lanes {
			for a, b := range lane.Observed(from, g.began, l.Dark) {
				t.Errorf("%v is observed from %v to %v before the fill is joined", l.Ref, a, b)
			}
		}
		late := &history.Batch{Keyframe: []byte("k"), Span: history.Span{From: g.cut, To: g.began.Add(1)}}
		if err := f.Write(late); !errors.Is(err, history.ErrSuperseded) {
			t.Errorf("a Batch that ends after the next run has begun: %v", err)
		}
		early := &history.Batch{Keyframe: []byte("k"), Span: history.Span{From: g.cut, To: g.cut.Add(1)}}
		if err := f.Write(early); err != nil {
			t.Error(err)
		}
		g.sql("delete from gop where run = 1") // as the next run does if the store is too large
		if early.Keyframe = nil; !errors.Is(f.Write(early), history.ErrSuperseded) || !errors.Is(f.Join(), history.ErrSuperseded) {
			t.Error("a fill goes on although its group was dropped")
		}
		g.sql("update run set began = began - 1 where id = 2") // as in a store that was restored
		late.Span.To = g.began
		if err := f.Write(late); !errors.Is(err, history.ErrSuperseded) {
			t.Errorf("another run is the next: %v", err)
		}
	})
}
