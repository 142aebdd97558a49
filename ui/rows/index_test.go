package rows

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

func noLabels() []string { return nil }

// naive computes the handles that an index should list from scratch.
func naive(x *Index, now time.Time) []Handle {
	var fresh Index
	fresh.Filter, fresh.Order, fresh.Problems = x.Filter, x.Order, x.Problems
	fresh.Update(x.st, now)
	fresh.Rebuild()
	return fresh.Handles
}

func TestIndexIsAlwaysWhatARebuildWouldGive(t *testing.T) {
	t.Parallel()
	names := strings.Split("abcdefghijklmnop", "")
	rapid.Check(t, func(t *rapid.T) {
		var x Index
		var st *sources.State
		now := uitest.Noon()
		fresh := func() {
			next := uitest.State(now)
			if st != nil {
				next.Rows = slices.Clone(st.Rows)
				next.Scopes = slices.Clone(st.Scopes)
			}
			st = next
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1, 2: // some rows change, come or go
				fresh()
				for range rapid.IntRange(1, 6).Draw(t, "changes") {
					slot := rapid.IntRange(0, 9).Draw(t, "slot")
					for len(st.Rows) <= slot {
						st.Rows = append(st.Rows, nil)
					}
					name := rapid.SampledFrom(names).Draw(t, "name")
					switch rapid.IntRange(0, 2).Draw(t, "how") {
					case 0:
						st.Rows[slot] = nil
					case 1:
						st.Rows[slot] = uitest.Row(uitest.Led(name, "host", now), slot)
					case 2:
						st.Rows[slot] = uitest.Row(uitest.Lost(name), slot)
					}
				}
			case 3:
				fresh()
				st.Scopes[0].Health = rapid.SampledFrom([]sources.Health{sources.HealthLive, sources.HealthStale}).Draw(t, "health")
			case 4:
				x.Filter.Parse(rapid.SampledFrom([]string{"", "a", "host", "k", "owner=host", "since>10s"}).Draw(t, "filter"), noLabels)
				x.Rebuild()
			case 5:
				x.Order = (x.Order + 1) % Orders
				x.Rebuild()
			case 6:
				x.Problems = !x.Problems
				x.Rebuild()
			case 7:
				now = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
				if st != nil {
					x.Sweep(now, nil)
				}
			}
			if st == nil {
				continue
			}
			x.Update(st, now)
			x.Sweep(now, nil)
			if want := naive(&x, now); !slices.Equal(x.Handles, want) {
				t.Fatalf("the order is %v, not %v", x.Handles, want)
			}
			if d := time.Duration(rapid.IntRange(1, 20).Draw(t, "ahead")) * time.Second; x.StaysFor(d) {
				var later Index
				later.Update(st, now.Add(d))
				if later.ByFault != x.ByFault || later.BySeverity != x.BySeverity {
					t.Fatalf("%v later the verdicts are %v, not %v", d, later.BySeverity, x.BySeverity)
				}
			}
			rows := 0
			for _, row := range st.Rows {
				if row != nil {
					rows++
				}
			}
			total := 0
			for _, n := range x.BySeverity {
				total += n
			}
			if x.Total != rows || total != rows {
				t.Fatalf("%d rows are counted as %d and %d", rows, x.Total, total)
			}
		}
	})
}

func TestIndexTellsWhenNothingMoved(t *testing.T) {
	t.Parallel()
	var x Index
	a, b, c := uitest.Three()
	if !x.Update(uitest.State(uitest.Noon(), a, b, c), uitest.Noon()) {
		t.Error("the first rows change nothing")
	}
	again := uitest.State(uitest.Noon(), uitest.Led("a", "host-1", uitest.Noon().Add(time.Second)), b, c)
	if x.Update(again, uitest.Noon()) {
		t.Error("a renewal moved a row")
	}
	if row, _ := x.At(x.Handles[0]); row != again.Rows[0] {
		t.Error("the index kept the old row")
	}
}

func TestAnOrderHandedOutIsNotWrittenOverByTheNext(t *testing.T) {
	t.Parallel()
	var x Index
	a, b, c := uitest.Three()
	x.Update(uitest.State(uitest.Noon(), a, b, c), uitest.Noon())
	for round := range 6 {
		before, was := x.Handles, slices.Clone(x.Handles)
		if round%3 == 2 {
			x.Filter.Parse(fmt.Sprint(round), noLabels)
			x.Rebuild()
		} else {
			x.Update(uitest.State(uitest.Noon(), uitest.Lost("c"), a, b, uitest.Led(fmt.Sprint("0", round), "o", uitest.Noon())), uitest.Noon())
		}
		if !slices.Equal(before, was) {
			t.Fatalf("round %d: the order before became %v", round, before)
		}
	}
}

func TestSilenceOfASourceReachesItsRowsAtOnce(t *testing.T) {
	t.Parallel()
	var x Index
	a, b, c := uitest.Three()
	st := uitest.State(uitest.Noon(), a, b, c)
	x.Update(st, uitest.Noon())
	silent := *st
	silent.Scopes = slices.Clone(st.Scopes)
	silent.Scopes[0].Health = sources.HealthStale
	for _, c := range []struct {
		st   *sources.State
		want verdict.Severity
	}{{&silent, verdict.Blind}, {st, verdict.Well}} {
		x.Update(c.st, uitest.Noon()) // the rows are the same values
		if _, v := x.At(x.Handles[0]); v.Severity != c.want {
			t.Errorf("severity %d, not %d", v.Severity, c.want)
		}
	}
}

func TestLeaseLeftIsNeverMoreThanTheLease(t *testing.T) {
	t.Parallel()
	// The second that ages are counted to may have begun before the renewal.
	o := &uitest.Led("a", "o", uitest.Noon()).Owners[0]
	for ago, want := range map[time.Duration]time.Duration{-time.Second: 15 * time.Second, 5 * time.Second: 10 * time.Second, time.Minute: 0} {
		if got := LeaseLeft(o, uitest.Noon().Add(ago)); got != want {
			t.Errorf("%v after the renewal %v is left, not %v", ago, got, want)
		}
	}
}
