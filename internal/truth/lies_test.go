package truth

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// sec is an instant, so many seconds after noon.
func sec(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }

// did is a change of the row "key" that took 10 ms.
func did(s float64, what deed, who, cause string) change {
	return change{row: "key", who: who, id: who, what: what, from: sec(s), to: sec(s + 0.01), cause: cause, leaseEnds: sec(1000)}
}

// truth is what happened in these tests.
func truth() *history {
	h := newHistory()
	h.add(
		did(10, begins, "a", ""),
		did(20, renews, "a", ""),
		did(30, ends, "a", "released"),
		did(40, begins, "b", ""), // seen by a look
		did(45, joins, "w", ""),
		did(46, joins, "x", ""),
		did(50, ends, "b", "expired"),
		change{row: "key", who: "w", id: "w", what: leaves, from: sec(50), to: sec(50.01), granted: true},
		did(50.01, begins, "w", ""),
		did(52, leaves, "x", ""),
		did(60, ends, "w", "released"),
		did(65, begins, "y", ""), // in darkness
		did(66, ends, "y", "released"),
		did(75, begins, "a", ""),
		did(80, ends, "a", "released"), // within one interval
		did(80.2, begins, "z", ""),
		did(80.3, ends, "z", "released"),
		did(90, begins, "b", ""),
	)
	return h
}

// The true lines: what stands in them is replaced by the tests of lies.
const trueLines = `
"at":1,"event":"synced"
"at":10,"event":"acquired","owner":"a"
"at":20,"event":"renewed","owner":"a"
"at":30,"event":"released","previous":"a","cause":"released","known":"told"
"at":40.5,"after":39.5,"event":"acquired","owner":"b","last":"a","gap_ms":{"min":9500,"max":10500}
"at":46.5,"after":44.5,"event":"waiter_joined","owner":"w"
"at":46.5,"after":44.5,"event":"waiter_joined","owner":"x"
"at":50.02,"event":"owner_changed","owner":"w","previous":"b","cause":"unknown"
"at":53,"after":51,"event":"waiter_left","owner":"x"
"at":60,"event":"released","previous":"w","cause":"released","known":"told"
"at":67,"after":62,"event":"source_down"
"at":70,"event":"source_up"
"at":70,"event":"synced"
"at":75,"event":"acquired","owner":"a","gap_ms":{"min":5000,"max":15010}
"at":80,"event":"released","previous":"a","cause":"released","known":"told"
"at":90,"event":"acquired","owner":"b","last":"a","gap_ms":{"min":10000,"max":10010,"how":"sampled","every_ms":500}
`

// linesOf makes lines of what trueLines abbreviates.
func linesOf(t *testing.T, text string) []line {
	t.Helper()
	var lines []line
	for i, short := range strings.Split(strings.TrimSpace(text), "\n") {
		full := short
		if !strings.Contains(short, `"synced"`) && !strings.Contains(short, `"source_`) {
			full += `,"name":"key"`
		}
		for _, who := range []string{"owner", "previous", "last"} {
			key := `"` + who + `":"`
			if before, after, ok := strings.Cut(full, key); ok {
				name, rest, _ := strings.Cut(after, `"`)
				full = before + fmt.Sprintf(`"%s":{"id":%q,"label":%q}`, who, name, name) + rest
			}
		}
		for _, when := range []string{"at", "after"} {
			key := `"` + when + `":`
			if before, after, ok := strings.Cut(full, key); ok {
				number, rest, _ := strings.Cut(after, ",")
				var s float64
				if _, err := fmt.Sscan(number, &s); err != nil {
					t.Fatal(err)
				}
				full = before + key + `"` + sec(s).Format(time.RFC3339Nano) + `",` + rest
			}
		}
		l, err := parseLine(fmt.Appendf(nil, `{"seq":%d,%s}`, i+1, full))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func (v *verdict) classes() string {
	var list []string
	for _, l := range v.lies {
		class, _, _ := strings.Cut(l, ":")
		if len(list) == 0 || list[len(list)-1] != class {
			list = append(list, class)
		}
	}
	return strings.Join(list, ", ")
}

func TestTheTruthIsNoLie(t *testing.T) {
	t.Parallel()
	v := check(linesOf(t, trueLines), truth(), rules{slack: 200 * time.Millisecond})
	if len(v.lies) > 0 {
		t.Errorf("%s", strings.Join(v.lies, "\n"))
	}
	for what, want := range map[string]int{"came and went " + inDarkness: 1, "came and went " + inInterval: 1} {
		if v.counts[what] != want {
			t.Errorf("%s: %d, want %d", what, v.counts[what], want)
		}
	}
}

func TestEachKindOfLieIsNoticed(t *testing.T) {
	t.Parallel()
	acquired := `"at":10,"event":"acquired","owner":"a"`
	renewed := `"at":20,"event":"renewed","owner":"a"`
	released := `"at":30,"event":"released","previous":"a","cause":"released","known":"told"`
	taken := `"at":40.5,"after":39.5,"event":"acquired","owner":"b","last":"a","gap_ms":{"min":9500,"max":10500}`
	joined := `"at":46.5,"after":44.5,"event":"waiter_joined","owner":"x"`
	left := `"at":53,"after":51,"event":"waiter_left","owner":"x"`
	changed := `"at":50.02,"event":"owner_changed","owner":"w","previous":"b","cause":"unknown"`
	after := `"at":75,"event":"acquired","owner":"a","gap_ms":{"min":5000,"max":15010}`
	none := `"at":2,"event":"synced"`
	tests := map[string]struct{ line, instead, class string }{
		"a take-over that was not":                        {acquired, acquired + "\n" + `"at":12,"event":"owner_changed","owner":"c","previous":"a","cause":"unknown"` + "\n" + `"at":13,"event":"owner_changed","owner":"a","previous":"c","cause":"unknown"`, "no such change"},
		"a renewal that was not":                          {renewed, renewed + "\n" + `"at":25,"event":"renewed","owner":"a"`, "no such change"},
		"a waiter that was not":                           {joined, joined + "\n" + `"at":47,"event":"waiter_joined","owner":"q"`, "no such change"},
		"another owner":                                   {taken, strings.Replace(taken, `"owner":"b"`, `"owner":"c"`, 1), "missed"},
		"another id":                                      {taken, strings.Replace(taken, `"owner":"b"`, `"owner":{"id":"c","label":"b"}`, 1), "no such change"},
		"another label":                                   {taken, strings.Replace(taken, `"owner":"b"`, `"owner":{"id":"b","label":"c"}`, 1), "wrong label"},
		"another fence":                                   {taken, strings.Replace(taken, `"owner":"b"`, `"owner":{"id":"b","label":"b","fence":"8"}`, 1), "wrong fence"},
		"another previous":                                {changed, strings.Replace(changed, `"previous":"b"`, `"previous":"a"`, 1), "wrong previous"},
		"another last":                                    {taken, strings.Replace(taken, `"last":"a"`, `"last":"c"`, 1), "wrong last"},
		"no last although it is known":                    {taken, strings.Replace(taken, `"last":"a"`, `"x":1`, 1), "wrong last"},
		"the last before somebody in the dark":            {after, after + `,"last":"w"`, "wrong last"},
		"too early":                                       {released, strings.Replace(released, `"at":30`, `"at":29.9`, 1), "outside"},
		"too late for a push":                             {released, strings.Replace(released, `"at":30`, `"at":30.5`, 1), "outside"},
		"a stretch after it":                              {taken, strings.Replace(taken, `"after":39.5`, `"after":40.2`, 1), "outside"},
		"a waiter's stretch after it":                     {left, strings.Replace(left, `"after":51`, `"after":52.5`, 1), "outside"},
		"a gap with too much":                             {taken, strings.Replace(taken, `9500`, `10800`, 1), "wrong gap"},
		"a gap with too little":                           {taken, strings.Replace(taken, `10500`, `9700`, 1), "wrong gap"},
		"no gap":                                          {taken, strings.Replace(taken, `"gap_ms"`, `"x"`, 1), "wrong gap"},
		"a gap over somebody in the dark":                 {after, strings.Replace(after, `5000`, `10000`, 1), "wrong gap"},
		"a released one expired":                          {released, strings.ReplaceAll(released, `released"`, `expired"`), "wrong cause"},
		"an event and a cause that differ":                {released, strings.Replace(released, `"event":"released"`, `"event":"expired"`, 1), "wrong cause"},
		"an expired one released":                         {changed, strings.Replace(changed, `"unknown"`, `"released","known":"inferred"`, 1), "wrong cause"},
		"an end without a line":                           {released, none, "missed"},
		"a take-over without a line":                      {acquired, none, "missed"},
		"a renewal without a line":                        {renewed, none, "missed"},
		"a waiter without a line":                         {joined + "\n", none + "\n", "missed"},
		"one that waits for ever":                         {left, none, "missed"},
		"a darkness that is not told":                     {`"at":67,"after":62,"event":"source_down"`, none, "missed"},
		"a first line with an owner where nobody owns it": {`"at":1,"event":"synced"`, `"at":1,"event":"present","owner":"a","known":"at_least"`, "wrong owner"},
		"an end nobody has begun":                         {acquired, none, "wrong previous"},
		"an end that is not the true one":                 {`"at":90,"event":"acquired","owner":"b"`, `"at":90,"event":"acquired","owner":"c"`, "wrong at the end"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Count(trueLines, tt.line) != 1 {
				t.Fatalf("the line to replace is not there once: %s", tt.line)
			}
			v := check(linesOf(t, strings.Replace(trueLines, tt.line, tt.instead, 1)), truth(), rules{slack: 200 * time.Millisecond})
			if !strings.Contains(v.classes(), tt.class) {
				t.Errorf("lies noticed: %q, want %q\n%s", v.classes(), tt.class, strings.Join(v.lies, "\n"))
			}
		})
	}
}

// TestALineTellsOfTheEndWithItsCause has an owner lose the row twice in the stretch of a line.
func TestALineTellsOfTheEndWithItsCause(t *testing.T) {
	t.Parallel()
	const lines = `
"at":1,"event":"synced"
"at":10,"event":"acquired","owner":"a"
"at":31.5,"after":29,"event":"released","previous":"a","cause":"released","known":"inferred"
`
	first := []change{did(10, begins, "a", ""), did(30, ends, "a", "released"), did(30.02, begins, "a", "")}
	for _, tt := range []struct {
		truth []change
		want  string
	}{
		{append(first, did(31, ends, "a", "expired")), ""},
		{[]change{first[0], did(31, ends, "a", "expired")}, "wrong cause"},
	} {
		h := newHistory()
		h.add(tt.truth...)
		v := check(linesOf(t, lines), h, rules{slack: 200 * time.Millisecond, proved: true})
		if v.classes() != tt.want {
			t.Errorf("lies noticed: %q, want %q", v.classes(), tt.want)
		}
	}
}

// TestARestartIsNoCauseOfAnEndByTheLease has a server restart in the stretch of a line, after the
// owner gave the row up, or its lease ran out, or before that.
func TestARestartIsNoCauseOfAnEndByTheLease(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ cause, told, want string }{
		{"restart", "restart", ""}, {"released", "restart", ""}, {"expired", "restart", "wrong cause"}, {"restart", "released", "wrong cause"},
	} {
		lines := `
"at":1,"event":"synced"
"at":10,"event":"acquired","owner":"a"
"at":32,"after":29,"event":"released","previous":"a","known":"inferred","cause":"` + tt.told + `"
`
		end, restarted := did(30, ends, "a", tt.cause), sec(31)
		end.sessionEnds = &restarted
		h := newHistory()
		h.add(did(10, begins, "a", ""), end)
		if v := check(linesOf(t, lines), h, rules{slack: 200 * time.Millisecond}); v.classes() != tt.want {
			t.Errorf("it was %s, and a line says %s: %q, want %q", tt.cause, tt.told, v.classes(), tt.want)
		}
	}
}

// TestNoLastAfterAStretchNeedsALongOne has the end before a take-over told in a stretch, in
// which another may have owned the row, or in one too short for that.
func TestNoLastAfterAStretchNeedsALongOne(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]string{"29.9": "", "29.99": "wrong last"} {
		lines := `
"at":1,"event":"synced"
"at":10,"event":"acquired","owner":"a"
"at":30.01,"after":` + after + `,"event":"released","previous":"a","cause":"released","known":"inferred"
"at":40,"event":"acquired","owner":"b","gap_ms":{"min":9990,"max":10110}
`
		h := newHistory()
		h.add(did(10, begins, "a", ""), did(30, ends, "a", "released"), did(40, begins, "b", ""))
		v := check(linesOf(t, lines), h, rules{slack: 200 * time.Millisecond, proved: true})
		if v.classes() != want {
			t.Errorf("a stretch from %s on: %q, want %q\n%s", after, v.classes(), want, strings.Join(v.lies, "\n"))
		}
	}
}

// TestAGapGoesOnOverWhoCameAndWentBeforeThePushWasRead has an owner for some milliseconds, whom no line
// tells of, and one for longer.
func TestAGapGoesOnOverWhoCameAndWentBeforeThePushWasRead(t *testing.T) {
	t.Parallel()
	const lines = `
"at":1,"event":"synced"
"at":10,"event":"acquired","owner":"a"
"at":30,"event":"released","previous":"a","cause":"released","known":"told"
"at":40.02,"event":"acquired","owner":"b","last":"a","gap_ms":{"min":9990,"max":10030}
`
	for length, want := range map[float64]string{0.05: "", 5: "missed, wrong gap, wrong last"} {
		h := newHistory()
		h.add(did(10, begins, "a", ""), did(30, ends, "a", "released"), did(40-length, begins, "x", ""), did(40, ends, "x", "released"), did(40.011, begins, "b", ""))
		v := check(linesOf(t, lines), h, rules{slack: 200 * time.Millisecond, proved: true, silences: []dark{{from: sec(5), to: sec(6)}}})
		if v.classes() != want {
			t.Errorf("for %v s: %q, want %q\n%s", length, v.classes(), want, strings.Join(v.lies, "\n"))
		}
	}
}
