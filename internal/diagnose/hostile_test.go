package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// TestNamesOfStrangersStayData has control characters, a megabyte and a command of a shell where strangers write names.
func TestNamesOfStrangersStayData(t *testing.T) {
	t.Parallel()
	const esc, rtl = "\x1b]0;owned\x07\r\n", "\u202e"
	evil := esc + rtl + "; rm -rf /" + strings.Repeat("x", 1<<20)
	rows := []*sources.Row{
		lost("a", evil, time.Minute, expired, inferred), lost("b", evil, time.Minute, expired, inferred), lost(evil, "host-9:1", time.Minute, released, inferred),
		queued(owned("ydb", "1", evil), evil+"2"), queued(owned("ydb", "2", evil+"2"), evil), queued(owned("postgres", evil+"3", evil+"4"), evil+"5"),
		queued(queuedFor(semaphore(evil+"6", map[string]uint64{evil: 7}), evil+"7", time.Minute, 5), evil+"8"),
		with(led(evil+"9", evil), func(r *sources.Row) { r.Owners[0].Expires.At = uitest.Noon().Add(time.Second) }),
	}
	rows[5].Owners[0].Attrs = []sources.Attr{{Key: sources.Leaked, Value: evil}, {Key: "also owns", Value: evil}, {Key: "application", Value: evil}}
	st := state(rows...)
	st.Scopes[0].About = sources.About{Warnings: []string{"maxmemory-policy" + evil}, Became: evil, Config: []sources.Attr{{Key: sources.LockTable, Value: evil, Odd: true}}}
	in := input(st)
	in.Name, in.Runbooks = nil, map[Pattern]string{OwnerTogether: "https://wiki.example/owner-gone"}
	found := Find(in)
	complete(t, in, found)
	for i := range found {
		f := &found[i]
		texts := append([]string{f.Title, f.Effect, f.Runbook}, f.Who...)
		for _, r := range f.Reasons {
			texts = append(texts, r.Text)
		}
		for j := range f.Rows {
			texts = append(texts, f.Rows[j].Short)
		}
		for _, s := range f.Steps {
			texts = append(texts, s.Text, s.Command)
			if strings.Contains(s.Command, "rm -rf") && !strings.Contains(s.Command, "'") {
				t.Errorf("a shell would run it: %.200q", s.Command)
			}
		}
		for line := range strings.SplitSeq(f.Text(in.Now), "\n") {
			texts = append(texts, line)
		}
		for _, text := range texts {
			if bad := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' }); bad >= 0 || len(text) > 1000 {
				t.Errorf("%v: %d bytes: %.200q", f.Pattern, len(text), text)
			}
		}
	}
	if len(found) < 6 {
		t.Errorf("found %d", len(found))
	}
}

func TestAFindingHasTheRunbookOfItsPattern(t *testing.T) {
	t.Parallel()
	in := input(state(lost("a", "host-1:1", time.Minute, expired, inferred), lost("b", "", time.Minute, 0, 0)))
	in.Runbooks = map[Pattern]string{OwnerTogether: "https://wiki.example/owner-gone"}
	for _, f := range Find(in) {
		if want := in.Runbooks[f.Pattern]; f.Runbook != want {
			t.Errorf("%v has %q", f.Pattern, f.Runbook)
		}
	}
}

func TestPatternsHaveNames(t *testing.T) {
	t.Parallel()
	for _, p := range all {
		if got, ok := PatternNamed(p.String()); !ok || got != p {
			t.Errorf("%q: %q", p, p.String())
		}
	}
	if _, ok := PatternNamed("none"); ok {
		t.Error("none is a pattern")
	}
}

// BenchmarkFind explains 1,000 problems, of which none has the same cause, among 100,000 rows.
func BenchmarkFind(b *testing.B) {
	rows := make([]*sources.Row, 0, 100_000)
	for _, p := range uitest.Many(99_000, uitest.Noon()) {
		rows = append(rows, uitest.Row(of("redis", p), 0))
	}
	for n := range 500 {
		rows = append(rows, lost(fmt.Sprint("lost-", n), fmt.Sprintf("host-%d:1", n), time.Minute, expired, inferred))
		rows = append(rows, queued(owned("ydb", fmt.Sprint("wait-", n), fmt.Sprintf("host-%d:2", n)), fmt.Sprintf("host-%d:2", n+1)))
	}
	in := input(state(rows...))
	b.ReportAllocs()
	for b.Loop() {
		if found := Find(in); len(found) != 1000 {
			b.Fatalf("found %d", len(found))
		}
	}
}
