package incidents

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/ui/uitest"
)

// question is one that an engineer on call asks.
type question struct {
	ask  string
	read string // where: see incident.text
	want []check
}

// check compares a text with the truth, and says what is wrong; "": nothing is.
type check func(text string) string

// ask asks all questions.
func (i *incident) ask(questions []question) {
	i.Helper()
	if len(questions) != 8 {
		i.Errorf("%d questions, not 8", len(questions))
	}
	read := map[string]string{}
	for _, q := range questions {
		text, ok := read[q.read]
		if !ok {
			text = i.text(q.read)
			read[q.read] = text
		}
		for _, c := range q.want {
			if wrong := c(text); wrong != "" {
				i.Errorf("%s\n%s: %s\n%s", q.ask, q.read, wrong, text)
			}
		}
	}
}

// text is what a person reads: of "history ..." and "report" what they print of the exported file, of "replay ..." what its
// screen shows after the keys, where "T" stands alone, at that time.
func (i *incident) text(where string) string {
	i.Helper()
	verb, rest, _ := strings.Cut(where, " ")
	if verb == "replay" {
		return i.replay(rest)
	}
	return i.run(append([]string{verb, "--file", i.file}, strings.Fields(rest)...)...)
}

// replay is what the screen of a replay shows after the keys; the first may be --at=TIME.
func (i *incident) replay(keys string) string {
	i.Helper()
	args := []string{"replay", i.file}
	if at, rest, _ := strings.Cut(keys, " "); strings.HasPrefix(at, "--at=") {
		args, keys = append(args, at), rest
	}
	const w, h = 160, 48
	cmd := command(i.T, i.home, args...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: h, Cols: w})
	if err != nil {
		i.Fatal(err)
	}
	screen := uitest.NewAnswering(i.T, w, h, f)
	read := make(chan struct{})
	go func() { // joined below; ends with the program: EIO
		defer close(read)
		_, _ = io.Copy(screen, f)
	}()
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		<-read
		_ = f.Close()
	}()
	screen.Until(i.T, "the replay", patience, func(shown string) bool {
		return strings.Contains(shown, "THE PAST") && !strings.Contains(shown, "reading the recording")
	})
	screen.Settle()
	for _, key := range strings.Fields(keys) {
		if _, err := io.WriteString(f, strings.NewReplacer("enter", "\r", "_", " ").Replace(key)); err != nil {
			i.Fatal(err)
		}
		screen.Settle()
	}
	return strings.TrimRight(screen.Text(), "\n ")
}

// says demands that a line of the text matches.
func says(expr string, args ...any) check {
	expr = fmt.Sprintf(expr, args...)
	return func(text string) string {
		if regexp.MustCompile("(?m)" + expr).MatchString(text) {
			return ""
		}
		return fmt.Sprintf("it does not say %q", expr)
	}
}

// never demands that no line matches.
func never(expr string, args ...any) check {
	said := says(expr, args...)
	return func(text string) string {
		if said(text) != "" {
			return ""
		}
		return fmt.Sprintf("it says %q", fmt.Sprintf(expr, args...))
	}
}

// slack is how late the program may be on a machine that does much else.
const slack = 150 * time.Millisecond

// groups returns what the groups of an expression match.
func groups(text, expr string, most int) ([]string, string) {
	m := regexp.MustCompile("(?m)" + expr).FindStringSubmatch(text)
	if len(m) < 2 || len(m) > most+1 {
		return nil, fmt.Sprintf("it does not say %q", expr)
	}
	return m[1:], ""
}

// at demands that the group of the expression is a time in the stretch, or within the tolerance of it. Where there are two
// groups, it happened behind the second one at the earliest.
func at(expr string, m moment, tolerance time.Duration) check {
	return func(text string) string {
		got, wrong := groups(text, expr, 2)
		if wrong != "" {
			return wrong
		}
		t, err := parseTime(got[0], m.to)
		after := t.Add(-tolerance)
		if err == nil && len(got) == 2 {
			after, err = parseTime(got[1], m.to)
		}
		if err != nil {
			return err.Error()
		}
		if t.Add(cutOf(got[0])).Before(m.from.Add(-slack)) || after.After(m.to.Add(slack)) {
			return fmt.Sprintf("%q says %s, and the truth is %s to %s", expr, got, clock(m.from), clock(m.to))
		}
		return ""
	}
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// cutOf is how much a time may be later than it is printed.
func cutOf(text string) time.Duration {
	_, fraction, _ := strings.Cut(strings.TrimSuffix(text, "Z"), ".")
	return time.Duration(float64(time.Second) * math.Pow10(-len(fraction)))
}

// parseTime reads a time of day, or a day and a time, in UTC.
func parseTime(text string, near time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if t, err := time.Parse("2006-01-02 15:04:05", text); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02 15:04:05", near.UTC().Format(time.DateOnly)+" "+text)
}

// lasted demands that the group of the expression is a length, or two with a dash between, that allows the true one.
func lasted(expr string, want span, tolerance time.Duration) check {
	return func(text string) string {
		all, wrong := groups(text, expr, 1)
		if wrong != "" {
			return wrong
		}
		got, _, _ := strings.Cut(strings.TrimSuffix(all[0], ",…"), ", looks every ")
		low, high, both := strings.Cut(strings.ReplaceAll(got, " to ", " - "), " - ")
		from, err := parseLength(low)
		to := from
		if err == nil && both {
			to, err = parseLength(high)
		}
		switch {
		case strings.HasPrefix(got, "≤"), strings.HasPrefix(got, "up to"):
			from.min = 0
		case strings.HasPrefix(got, "≥"), strings.HasPrefix(got, "at least"):
			to.max = math.MaxInt64
		}
		if err != nil {
			return err.Error()
		}
		if to.max < want.min-tolerance-slack || from.min > want.max+tolerance+slack {
			return fmt.Sprintf("%q says %s, and the truth is %v to %v", expr, got, want.min, want.max)
		}
		return ""
	}
}

// parseLength reads a length as it is printed: "3.2 s", "1m20s", "250 ms"; it is rounded.
func parseLength(text string) (span, error) {
	text = strings.ReplaceAll(strings.TrimLeft(text, "~≥≤ uptoales"), " ", "")
	d, err := time.ParseDuration(text)
	if err != nil {
		return span{}, fmt.Errorf("%q is no length", text)
	}
	step := time.Second
	if strings.Contains(text, "ms") {
		step = time.Millisecond
	} else if strings.Contains(text, ".") {
		step = 100 * time.Millisecond
	}
	return span{d - step, d + step}, nil
}

// TestLengthsAndTimesAreReadAsTheyArePrinted keeps the comparison itself sound.
func TestLengthsAndTimesAreReadAsTheyArePrinted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"3.2 s": 3200 * time.Millisecond, "1m20s": 80 * time.Second, "≥ 250 ms": 250 * time.Millisecond} {
		if got, err := parseLength(text); err != nil || got.min > want || got.max < want || got.max-got.min > 2*time.Second {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	then := time.Date(2026, 11, 22, 10, 0, 5, 500e6, time.UTC)
	for text, right := range map[string]bool{"10:00:05": true, "2026-11-22 10:00:05.400": true, "10:00:07": false, "10:00:04": false} {
		if wrong := at(`at (.*)`, moment{then, then}, 0)("at " + text); (wrong == "") != right {
			t.Errorf("%s: %s", text, wrong)
		}
	}
	for text, right := range map[string]bool{"1.0 s - 3.0 s": true, "2.0 s": true, "2.4 s": false, "0.5 s - 1.0 s": false} {
		if wrong := lasted(`for (.*)`, span{2 * time.Second, 2 * time.Second}, 0)("for " + text); (wrong == "") != right {
			t.Errorf("%s: %s", text, wrong)
		}
	}
}
