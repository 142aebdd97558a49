package headless

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
)

func TestExportedRowsAreThoseOfGet(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	row := func(name string) *sources.Row {
		return &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "leases", Space: "0", Name: name}, Kind: sources.KindMutex, At: now,
			OwnersHow: sources.Told, Owners: []sources.Owner{{ID: "o", Label: "host\x1b[2J"}}, Taken: 1}}
	}
	s := &sources.State{At: now, Rows: []*sources.Row{row("a"), row("b")}, Sources: []sources.SourceStatus{{Name: "leases"}}}
	var got, whole bytes.Buffer
	if err := Export(&got, JSON, s, s.Rows, now); err != nil {
		t.Fatal(err)
	}
	if err := writeGet(&whole, judge(s), s.Rows, GetOptions{}, now); err != nil {
		t.Fatal(err)
	}
	var get struct{ Primitives []json.RawMessage }
	if err := json.Unmarshal(whole.Bytes(), &get); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(got.String(), "\n"), "\n")
	if len(lines) != 2 || lines[0] != string(get.Primitives[0]) || lines[1] != string(get.Primitives[1]) {
		t.Errorf("exported %q, get prints %s", lines, whole.Bytes())
	}
	got.Reset()
	if err := Export(&got, Text, s, s.Rows[:1], now); err != nil {
		t.Fatal(err)
	}
	if out := got.String(); strings.Count(out, "\n") != 2 || !strings.Contains(out, "STATE") || strings.Contains(out, "\x1b") {
		t.Errorf("as text: %q", out)
	}
}

func TestExportedTablesTakeNoTextForMoreThanText(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "leases", Space: "0", Name: "=cmd|'/c calc'!A1"}, Kind: sources.KindMutex, At: now,
		OwnersHow: sources.Told, Owners: []sources.Owner{{ID: "o", Label: "a \"b\", <i>[x](y)</i>_"}}, Taken: 1}}
	s := &sources.State{At: now, Rows: []*sources.Row{r}, Sources: []sources.SourceStatus{{Name: "leases"}}}
	for form, want := range map[Format]string{
		CSV:      "STATE,SOURCE,KIND,NAME,OWNER,SINCE,LEASE,WAITERS,BEFORE\nstale,leases,mutex,'=cmd|'/c calc'!A1,\"a \"\"b\"\", <i>[x](y)</i>_\",?,?,?,-\n",
		Markdown: "| STATE | SOURCE | KIND | NAME | OWNER | SINCE | LEASE | WAITERS | BEFORE |\n|---|---|---|---|---|---|---|---|---|\n| stale | leases | mutex | =cmd\\|'/c calc'!A1 | a \"b\", \\<i\\>\\[x\\](y)\\</i\\>\\_ | ? | ? | ? | - |\n",
	} {
		var got bytes.Buffer
		if err := Export(&got, form, s, s.Rows, now); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("got  %q\nwant %q", got.String(), want)
		}
	}
}

func TestExportsKeepThatAnOwnershipIsOlderThanTheFirstLook(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	first := sources.Stamp{At: now.Add(-20 * time.Second), How: sources.AtLeast}
	row := func(name string, owners ...sources.Owner) *sources.Row {
		return &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "leases", Space: "0", Name: name}, Kind: sources.KindElection, At: now,
			OwnersHow: sources.Told, Owners: owners, Taken: uint64(len(owners))}}
	}
	running, over, vacant := row("running", sources.Owner{ID: "a", Label: "a", Since: first}), row("over"), row("vacant")
	over.Nobody = sources.Stamp{At: now.Add(-8 * time.Second), How: sources.Seen}
	over.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "old", Label: "host-1:1"}, Start: first, End: over.Nobody, Cause: sources.CauseDeleted, How: sources.Inferred}}
	vacant.Nobody = first
	s := &sources.State{At: now, Rows: []*sources.Row{running, over, vacant}, Sources: []sources.SourceStatus{{Name: "leases", Health: sources.HealthLive}},
		Scopes: []sources.Scope{{Source: "leases", Health: sources.HealthLive, Alive: now, Synced: true}}}
	export := func(f Format) string {
		var out bytes.Buffer
		if err := Export(&out, f, s, s.Rows, now); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for f, want := range map[Format][]string{
		Text:     {"≥20s", "host-1:1 for at least 12 s (cause deleted, inferred)"},
		CSV:      {"running,a,≥20s,", "over,-,8s,-,?,\"host-1:1 for at least 12 s (cause deleted, inferred)\"", "vacant,-,≥20s,"},
		Markdown: {"| running | a | ≥20s |", "| 8s | - | ? | host-1:1 for at least 12 s (cause deleted, inferred) |", "| vacant | - | ≥20s |"},
		JSON: {
			`"since":"2026-11-21T11:59:40.000000Z","since_known":"at_least"`,
			`"free_since":"2026-11-21T11:59:52.000000Z","free_since_known":"seen"`,
			`"before":[{"id":"old","label":"host-1:1","fence":null,"since":"2026-11-21T11:59:40.000000Z","since_known":"at_least","since_after":null,` +
				`"until":"2026-11-21T11:59:52.000000Z","until_after":null,"held_ms":{"min":12000,"max":null},"cause":"deleted","cause_known":"inferred"}]`,
			`"free_since":"2026-11-21T11:59:40.000000Z","free_since_known":"at_least"`,
		},
	} {
		got := export(f)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("form %d does not say %s:\n%s", f, part, got)
			}
		}
	}
}

func TestAnEndInTheStreamTellsHowLongItWasOwnedAtLeast(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for want, held := range map[string]sources.Interval{
		"owned for at least 12 s":  {Min: 12 * time.Second, Max: sources.Endless},
		"owned for 3.0 s to 4.0 s": {Min: 3 * time.Second, Max: 4 * time.Second},
		"owned for up to 4.0 s":    {Max: 4 * time.Second},
	} {
		e := sources.Event{Kind: sources.EventReleased, At: now, Ref: sources.Ref{Source: "s", Name: "a"}, Previous: sources.OwnerRef{ID: "a", Label: "a"}, Held: held}
		var line, object bytes.Buffer
		textEvent(&line, &e, spaces{}, time.UTC, false)
		if err := encode(&object, eventOf(&e)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(line.String(), want) {
			t.Errorf("%s: %s", want, line.String())
		}
		if endless := strings.Contains(object.String(), `"held_ms":{"min":12000,"max":null}`); endless != (held.Max == sources.Endless) {
			t.Errorf("%s: %s", want, object.String())
		}
	}
}
