package paint

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"coordtop/ui/timeline"
)

func TestALongOutageIsALineWithFilledEndsAndNoWall(t *testing.T) {
	t.Parallel()
	for _, ascii := range []bool{false, true} {
		th := new(Scheme).Theme(ascii)
		for n, want := range map[int]string{1: "!", 5: "!    ", 6: "!════ ", 12: "!══════════ "} {
			if ascii {
				want = "!!!!!!!!!!!!"[:n]
			}
			cells := make([]timeline.Cell, n)
			for i := range cells {
				cells[i] = timeline.Cell{Kind: timeline.Leaderless, Head: i == 0}
			}
			l := th.Line(n)
			l.Strip(cells)
			line := l.Done()
			if got := ansi.Strip(line); got != want {
				t.Errorf("%d columns without a leader: %q, want %q", n, got, want)
			}
			filled := strings.Count(line, string(th.Alarm))
			if want := 1 + map[bool]int{true: 1}[n >= longAlarm]; filled != want {
				t.Errorf("%d columns: %d filled stretches, want %d", n, filled, want)
			}
		}
	}
}
