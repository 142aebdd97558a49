package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// TestTheDashboardShowsWhatHistoryPrints runs the SQL of each panel, as Grafana fills it in, as a role that may only read.
func TestTheDashboardShowsWhatHistoryPrints(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{Setup: []string{"create role ann login"}})
	o := Options{Address: server.URL()} // the dashboard names the usual schema
	w := begun(t, o, 0)
	now := time.Now().Truncate(time.Second).Add(-2 * m) // a total ends at the present
	seen := func(d time.Duration) sources.Stamp { return sources.Stamp{At: now.Add(d), How: sources.Seen} }
	ended := func(owner string, from, to time.Duration) sources.Term {
		return sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: seen(from), End: seen(to), Cause: sources.CauseReleased, How: sources.Told}
	}
	b := storetest.BatchOf(0, m)
	b.Span = history.Span{From: now, To: now.Add(m)}
	b.Lanes = []history.LaneChange{
		{Ref: storetest.Ref("x"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{ended("a", 0, 10*sec), ended("b", 13*sec, 20*sec), {Owner: sources.OwnerRef{ID: "c"}, Start: seen(20 * sec)}}},
		{Ref: sources.Ref{Source: "it's", Name: "y"}, Kind: sources.KindSemaphore, Scope: "s", Terms: []sources.Term{ended("d", sec, 2*sec)}},
	}
	for i, kind := range []sources.EventKind{sources.EventAcquired, sources.EventReleased, sources.EventAcquired, sources.EventOwnerChanged, sources.EventAction} {
		b.Events = append(b.Events, sources.Event{Seq: uint64(i + 1), At: now.Add(time.Duration(i) * sec), Kind: kind, Ref: storetest.Ref("x"), RefKind: sources.KindElection})
	}
	b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Dark: sources.Dark{From: now.Add(50 * sec), To: now.Add(51 * sec)}}}
	storetest.Write(t, w, b)
	asked(t, o.Address, "grant usage on schema coordtop to ann; grant select on all tables in schema coordtop to ann; select 1")

	r := NewReader(o)
	span := history.Span{From: now.Add(-h), To: now.Add(h)}
	lanes, err := r.Lanes(t.Context(), nil, span)
	if err != nil {
		t.Fatal(err)
	}
	terms := 0
	for i := range lanes {
		terms += len(lanes[i].Terms)
	}
	totals, err := r.Totals(t.Context(), span)
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.Events(t.Context(), span.To, 100, 0, history.EventFilter{})
	if err != nil {
		t.Fatal(err)
	}
	dark, err := r.Dark(t.Context(), history.Span{From: now, To: now.Add(m)})
	if err != nil || terms != 4 || len(events) != 5 {
		t.Fatalf("%d terms, %d events, %v", terms, len(events), err)
	}
	gaps := 0
	var nobody time.Duration
	for i := range totals {
		gaps += totals[i].Gaps
		nobody += totals[i].Nobody.Min
	}

	rows := panelRows(t, server.URLFor("ann", "", "postgres"), span)
	for title, want := range map[string]int{"Terms": terms, "Longest gaps": gaps, "Events": len(events), "Actions of people": 1, "Recorders": 1, "Not observed": len(dark), "Changes of owner": 1, "Time without an owner": 1} {
		if len(rows[title]) != want {
			t.Errorf("%s has the rows %q, want %d", title, rows[title], want)
		}
	}
	for title, want := range map[string]string{"Changes of owner": " leases 3", "Time without an owner": fmt.Sprintf(" leases %.6f", nobody.Seconds())} {
		if got := strings.Join(rows[title], ";"); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
	if len(rows) != 8 {
		t.Errorf("the panels are %v", rows)
	}
}

// panelRows runs the SQL of each panel.
func panelRows(t *testing.T, url string, span history.Span) map[string][]string {
	t.Helper()
	var board struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ RawSQL string }
		}
	}
	if err := json.Unmarshal([]byte(Dashboard), &board); err != nil {
		t.Fatal(err)
	}
	quoted := func(at time.Time) string { return "'" + at.UTC().Format(time.RFC3339Nano) + "'::timestamptz" }
	filled := strings.NewReplacer("$__timeFilter(start)", "start between "+quoted(span.From)+" and "+quoted(span.To), "$__timeFilter(at)", "at between "+quoted(span.From)+" and "+quoted(span.To),
		"$__timeGroup(at, $__interval)", "date_trunc('day', at)", "$__timeGroup(start, $__interval)", "date_trunc('day', start)", "$__timeFrom()", quoted(span.From), "$__timeTo()", quoted(span.To),
		"${source:sqlstring}", "'leases','it''s'", "${name:sqlstring}", "'%'")
	rows := map[string][]string{}
	for _, p := range board.Panels {
		text := filled.Replace(p.Targets[0].RawSQL)
		if strings.Contains(text, "$") {
			t.Errorf("%s has a variable that Grafana does not fill in: %s", p.Title, text)
		}
		lines, err := query(t, url, text)
		if err != nil {
			t.Errorf("%s: %v\n%s", p.Title, err, text)
		}
		rows[p.Title] = lines
	}
	return rows
}

// TestAGapSaysThatItWasNotObserved has a gap from 10 to 20 s in each primitive, and a reason beside or in it.
func TestAGapSaysThatItWasNotObserved(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	w := begun(t, o, 0)
	b := storetest.BatchOf(0, m)
	dark := func(from time.Duration) sources.Dark {
		return sources.Dark{From: storetest.After(from), To: storetest.After(from + 2*sec)}
	}
	for _, name := range []string{"seen", "scope", "own", "beside"} {
		scope := "s"
		if name == "scope" {
			scope = "other"
		}
		b.Lanes = append(b.Lanes, history.LaneChange{Ref: storetest.Ref(name), Kind: sources.KindMutex, Scope: scope, Terms: []sources.Term{storetest.Term("a", 0, 10*sec), storetest.Term("b", 20*sec, 30*sec)}})
	}
	b.Dark = []history.DarkChange{{Source: "leases", Scope: "other", Dark: dark(12 * sec)}, {Ref: storetest.Ref("own"), Dark: dark(12 * sec)}, {Ref: storetest.Ref("beside"), Dark: dark(25 * sec)}}
	storetest.Write(t, w, b)
	got := asked(t, o.Address, "set search_path = "+o.Schema+"; select string_agg(name || ' ' || partly_unobserved, ', ' order by name) from gaps where next_owner = 'b'")
	if want := "beside false, own true, scope true, seen false"; got != want {
		t.Errorf("the gaps are %s, want %s", got, want)
	}
	asked(t, o.Address, fmt.Sprintf("set search_path = %s; update lane set gone = %d where name = 'seen' returning 1", o.Schema, storetest.After(15*sec).UnixNano()))
	if got := asked(t, o.Address, "set search_path = "+o.Schema+"; select partly_unobserved from gaps where next_owner = 'b' and name = 'seen'"); got != "t" {
		t.Errorf("while its primitive is gone, partly_unobserved is %s", got)
	}
}
