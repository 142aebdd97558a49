package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// questions asks a store everything, and begins a run. It returns the errors by question.
func questions(t *testing.T, o Options) map[string]error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := NewReader(o)
	defer r.Close()
	all := history.Span{From: storetest.After(-day), To: storetest.After(day)}
	errs := map[string]error{}
	_, errs["Runs"] = r.Runs(ctx)
	_, errs["Lanes of all"] = r.Lanes(ctx, nil, all)
	_, errs["Lanes of one"] = r.Lanes(ctx, []sources.Ref{storetest.Ref("x")}, all)
	_, errs["Totals"] = r.Totals(ctx, all)
	_, errs["Dark"] = r.Dark(ctx, all)
	_, errs["Events"] = r.Events(ctx, storetest.After(h), 100, 100, history.EventFilter{})
	_, errs["Events of one"] = r.Events(ctx, storetest.After(h), 100, 100, history.EventFilter{Refs: []sources.Ref{storetest.Ref("x")}})
	c, err := r.Cursor(ctx, 0, storetest.After(sec))
	for n := 0; err == nil && n < 10; n++ {
		_, err = c.Next(ctx)
	}
	errs["Cursor"] = err
	_, errs["LastKnown"] = history.LastKnown(ctx, r, nil, nil)
	o.Claim = &Claim{Lock: 99}
	w, err := Begin(ctx, o, history.Run{Span: history.Span{From: storetest.After(2 * h)}})
	if errs["Begin"] = err; err == nil {
		errs["Write"] = w.Write(batch(2*h, "b"))
		_, errs["Tidy"] = w.Tidy(storetest.After(3 * h))
		errs["Close"] = w.Close()
	}
	return errs
}

// TestRowsOfAStrangerAreRefusedInASentence has rows that somebody with the role of the writer could write.
func TestRowsOfAStrangerAreRefusedInASentence(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	const zeroes, large = `decode(repeat('00', 100), 'hex')`, `9223372036854775807`
	seed := rand.Uint64()
	noise := func(n uint64) string { return noise(rand.New(rand.NewPCG(seed, n))) }
	bombs := `decode('28b52ffda4ffffff7f', 'hex')` // zstd that reports that it has 2 GB
	for name, change := range map[string]string{
		"numbers of lanes":         "update lane set id = -id; update term set lane = -1; update block set first_lane = -5, last_lane = " + large,
		"kinds":                    "update lane set kind = 99; update block set kinds = -1",
		"times":                    "update run set began = -" + large + ", last = " + large + ", ended = 1; update gop set start = -1, until = " + large + "; update dark set start = " + large,
		"counts":                   "update block set terms = -1; update chunk set size = " + large + ", first = -1; update run set writes = -5",
		"bodies of zeroes":         "update body set terms = " + zeroes + ", events = " + zeroes + "; update recent set body = " + zeroes + "; update running set body = " + zeroes + "; update term set fact = " + zeroes,
		"bodies of noise":          "update recent set body = " + noise(1) + "; update gop set body = " + noise(2) + "; update tail set body = " + noise(3) + "; update term set fact = " + noise(4),
		"bodies that swell":        "update recent set body = " + bombs + "; update gop set body = " + bombs,
		"empty bodies":             "update recent set body = ''; update gop set body = ''; update tail set body = ''; update term set fact = ''",
		"texts":                    `update lane set name = E'\x1b[2J\x07' || repeat('x', 100000); update run set host = E'\x1b]0;owned\x07', title = E'\r\n'; update scope set name = '\xzz\'`,
		"no store":                 "delete from store",
		"versions":                 "update store set version = -1, readers = -1",
		"runs":                     "update run set id = -1; update store set run = " + large,
		"a row twice":              "insert into recent(body) select body from recent; insert into tail(gop, first, start, until, body) select gop, first, start, until, body from tail",
		"a column that is gone":    "alter table run drop column host cascade",
		"a column of another type": "drop view primitives cascade; alter table lane alter kind type text using kind::text || 'x'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := stores(url)
			w := begun(t, o, 0)
			storetest.Write(t, w, batch(0, "a"))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			asked(t, url, "set search_path = "+o.Schema+"; "+change+"; select 1")
			for what, err := range questions(t, o) {
				if err != nil && strings.ContainsAny(err.Error(), "\n\x1b\x07") {
					t.Errorf("%s: %q", what, err)
				}
				if err == nil || errors.Is(err, history.ErrDamaged) || errors.Is(err, history.ErrNothing) || errors.Is(err, history.ErrDropped) {
					continue
				}
				t.Errorf("seed %d, %s: %v", seed, what, err)
			}
		})
	}
}

func TestWhatAStrangerWritesTakesNoMoreMemoryThanItsBounds(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	for name, change := range map[string]string{
		"a text":        "update run set host = repeat('x', 2000000)",
		"all the texts": "insert into run(id, host, pid, version, title, color, began, last) select i, 'h', 1, repeat('v', 1000000), '', '', i, i from generate_series(-300, -1) i",
	} {
		o := stores(url)
		begun(t, o, 0)
		asked(t, url, "set search_path = "+o.Schema+"; "+change+"; select 1")
		if _, err := NewReader(o).Runs(t.Context()); !errors.Is(err, history.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// noise is a random bytea.
func noise(r *rand.Rand) string {
	b := make([]byte, r.IntN(300))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return fmt.Sprintf("decode('%x', 'hex')", b)
}

// TestThirtyReadersAtOnceDelayNoWrite asks while a run is written.
func TestThirtyReadersAtOnceDelayNoWrite(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	w := begun(t, o, 0)
	storetest.Write(t, w, batch(0, "a"))
	errs := make(chan error, 30)
	for range cap(errs) {
		go func() { // received below
			r := NewReader(o)
			var err error
			for range 5 {
				_, lanes := r.Lanes(t.Context(), []sources.Ref{storetest.Ref("x")}, storetest.Span(0, day))
				_, events := r.Events(t.Context(), storetest.After(day), 100, 0, history.EventFilter{})
				_, totals := r.Totals(t.Context(), storetest.Span(0, day))
				err = errors.Join(err, lanes, events, totals)
			}
			errs <- errors.Join(err, r.Close())
		}()
	}
	for n := range 20 {
		storetest.Write(t, w, batch(time.Duration(n+1)*m, "a"))
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if l := storetest.LaneOf(t, NewReader(o), "x", storetest.Span(0, day)); len(l.Terms) != 21 {
		t.Errorf("%d terms, want 21", len(l.Terms))
	}
}
