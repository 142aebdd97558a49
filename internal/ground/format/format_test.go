package format_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/ground/format"
)

func TestCleanShowsWhatATerminalWouldObey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"host-07:4411", "host-07:4411"},
		{"", ""},
		{"größe 世界", "größe 世界"},
		{"\x1b[31mred", `\x1b[31mred`},
		{"a\nb\tc\r", `a\nb\tc\r`},
		{"\x9b31m", `\x9b31m`},
		{"\u009b31m", `\u009b31m`},
		{"safe\u202egnp.exe", `safe\u202egnp.exe`},
		{"zero\u200bwidth", `zero\u200bwidth`},
		{"e\u0301", `e\u0301`},
		{"bad\xffbyte", `bad\xffbyte`},
		{"\ufffd", "\ufffd"},
		{"\x7f", `\x7f`},
		{"\u00a0", `\u00a0`},
	} {
		if got := format.Clean(c.in, 0); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// Terminals, and the two ways to measure, agree about all that Clean lets through.
func TestWhatIsCleanIsAsWideAsItsCharacters(t *testing.T) {
	t.Parallel()
	neighbours := []string{"a", "म", "한", "ก", "\U0001f44d", "\U0001f469"}
	for r := rune(' '); r <= unicode.MaxRune; r++ {
		s := string(r)
		if format.Clean(s, 0) != s {
			continue
		}
		if grapheme, wc := ansi.StringWidth(s), ansi.StringWidthWc(s); grapheme != wc || wc == 0 {
			t.Errorf("%U: %d cells, or %d", r, grapheme, wc)
		}
		for _, n := range neighbours {
			if both, sum := ansi.StringWidth(n+s), ansi.StringWidth(n)+ansi.StringWidth(s); both != sum {
				t.Errorf("%U after %q: %d cells, want %d", r, n, both, sum)
			}
		}
	}
}

func TestCleanShowsWhatNobodyWouldSee(t *testing.T) {
	t.Parallel()
	for _, r := range "\u00ad\u034f\u115f\u1160\u17b4\u180e\u200b\u2060\u2800\u3164\ufeff\uffa0\U000e0041" {
		if got := format.Clean(string(r), 0); got == string(r) {
			t.Errorf("%U is left as it is", r)
		}
	}
}

func TestCleanCutsLongTextBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 3, "abc…"},
		{"ab世界", 3, "ab…"},
		{"ab世界", 4, "ab…"},
		{"ab世界", 5, "ab世…"},
		{"\x1b\x1b\x1b", 1, `\x1b…`},
	} {
		if got := format.Clean(c.in, c.limit); got != c.want {
			t.Errorf("Clean(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func FuzzCleanIsSafe(f *testing.F) {
	f.Add("\x1b]0;title\a", 5)
	f.Add("世\xe4\xb8", 4)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := format.Clean(s, limit)
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q, %d) = %q is not UTF-8", s, limit, got)
		}
		if ansi.Strip(got) != got || strings.ContainsAny(got, "\x1b\n\r\t\a\x7f") {
			t.Fatalf("Clean(%q, %d) = %q would be obeyed", s, limit, got)
		}
		if grapheme, wc := ansi.StringWidth(got), ansi.StringWidthWc(got); grapheme != wc {
			t.Fatalf("Clean(%q, %d) = %q has %d cells, or %d", s, limit, got, grapheme, wc)
		}
		if again := format.Clean(got, 0); again != got {
			t.Fatalf("Clean is not stable: %q then %q", got, again)
		}
	})
}

func TestUTF8KeepsTextAndMarksOtherBytes(t *testing.T) {
	t.Parallel()
	if s, exact := format.UTF8([]byte("ключ\n")); s != "ключ\n" || !exact {
		t.Errorf("UTF8 of text = %q, %v", s, exact)
	}
	if s, exact := format.UTF8([]byte("a\xff\xfeb")); s != `a\xff\xfeb` || exact {
		t.Errorf("UTF8 of other bytes = %q, %v", s, exact)
	}
}

func TestFitIsExactlyAsWideAsAsked(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "abc", "abcdefghij", "世界世界", "\x1b[31mred and long\x1b[m"} {
		for width := range 12 {
			if got := format.Width(format.Fit(s, width)); got != width {
				t.Errorf("Fit(%q, %d) is %d cells wide", s, width, got)
			}
		}
	}
}

func TestTimesAndNumbersAreShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{format.Age(-time.Second), "0s"},
		{format.Age(41*time.Second + 999*time.Millisecond), "41s"},
		{format.Age(9*time.Minute + 27*time.Second), "9m27s"},
		{format.Age(12*time.Minute + 59*time.Second), "12m"},
		{format.Age(3*time.Hour + 2*time.Minute), "3h02m"},
		{format.Age(28 * time.Hour), "1d04h"},
		{format.Age(400 * 24 * time.Hour), "400d"},
		{format.Left(1), "1s"},
		{format.Left(0), "0s"},
		{format.Left(59*time.Second + 1), "60s"},
		{format.Left(61 * time.Second), "1m01s"},
		{format.Precise(800 * time.Microsecond), "0.8 ms"},
		{format.Precise(210 * time.Millisecond), "210 ms"},
		{format.Precise(3890 * time.Millisecond), "3.8 s"},
		{format.Precise(9999 * time.Millisecond), "9.9 s"},
		{format.Precise(41 * time.Second), "41 s"},
		{format.Precise(3 * time.Hour), "3h00m"},
		{format.Precise(-1), "0 ms"},
		{format.Count(999), "999"},
		{format.Count(1000), "1,000"},
		{format.Count(812000), "812,000"},
		{format.Count(-1234567), "-1,234,567"},
		{format.Count(-100), "-100"},
		{format.Count(12), "12"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestALabelOfBlanksIsSeen(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"   ": `"   "`, "": "", " a ": " a ", "\t": `"\t"`, "a\x1b": `a\x1b`} {
		if got := format.Label(s, 0); got != want {
			t.Errorf("%q is shown as %s, not %s", s, got, want)
		}
	}
}
