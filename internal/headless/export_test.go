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
	if err := writeGet(&whole, s, s.Rows, now); err != nil {
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
		CSV:      "STATE,SOURCE,KIND,NAME,OWNER,SINCE,LEASE,WAITERS\nstale,leases,mutex,'=cmd|'/c calc'!A1,\"a \"\"b\"\", <i>[x](y)</i>_\",?,?,?\n",
		Markdown: "| STATE | SOURCE | KIND | NAME | OWNER | SINCE | LEASE | WAITERS |\n|---|---|---|---|---|---|---|---|\n| stale | leases | mutex | =cmd\\|'/c calc'!A1 | a \"b\", \\<i\\>\\[x\\](y)\\</i\\>\\_ | ? | ? | ? |\n",
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
