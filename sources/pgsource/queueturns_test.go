package pgsource

import (
	"fmt"
	"strings"
	"testing"
)

// queueText writes a line: who is served in which turn, and after the colon who blocks them.
func queueText(rows []lockRow, l *line) string {
	var list []string
	for i, w := range l.waiters {
		var names []string
		for _, b := range blockers(rows, l, i, 9) {
			names = append(names, utoa(b.pid))
		}
		list = append(list, fmt.Sprintf("%d. %d:%s", w.turn, rows[w.row].pid, strings.Join(names, " ")))
	}
	return strings.Join(list, ", ")
}

func TestQueueIsInferredAsTheServerLetsIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows []lockRow
		want string
	}{
		"as they came": {[]lockRow{owns(7, 1, exclusive), awaits(7, 2, exclusive, 10), awaits(7, 3, exclusive, 20)}, "1. 2:1, 2. 3:1 2"},
		"shared ones together": {[]lockRow{owns(7, 1, exclusive), awaits(7, 2, share, 10), awaits(7, 3, share, 20), awaits(7, 4, exclusive, 30)},
			"1. 2:1, 1. 3:1, 2. 4:1 2 3"},
		"a shared one behind an exclusive one waits for it": {[]lockRow{owns(7, 1, exclusive), awaits(7, 2, share, 10), awaits(7, 3, exclusive, 20),
			awaits(7, 4, share, 30), awaits(7, 5, share, 40)}, "1. 2:1, 2. 3:1 2, 3. 4:1 3, 3. 5:1 3"},
		"who owns it goes before those that wait for it": {[]lockRow{owns(7, 1, share), owns(7, 2, share), awaits(7, 3, exclusive, 10), awaits(7, 1, exclusive, 20)},
			"1. 1:2, 2. 3:1 2"},
		"before the first that waits for it, not before all": {[]lockRow{awaits(7, 5, share, 30), owns(7, 2, share), awaits(7, 3, exclusive, 10), owns(7, 1, share),
			awaits(7, 1, exclusive, 20), awaits(7, 4, share, 25)}, "1. 1:2, 2. 3:1 2, 3. 4:1 3, 3. 5:1 3"},
		"a prepared transaction": {[]lockRow{{oid: 7, mode: exclusive, granted: true, virtual: "-1/9"}, awaits(7, 2, share, 10)}, "1. 2:0"},
		"waiting for each other": {[]lockRow{owns(7, 1, share), owns(7, 2, share), awaits(7, 1, exclusive, 10), awaits(7, 2, exclusive, 20)}, "0. 2:1, 0. 1:2"},
		"nobody":                 {[]lockRow{owns(7, 1, exclusive)}, ""},
	} {
		c.rows = inOrder(c.rows)
		l := (&queueOrder{}).lineOf(ident{}, c.rows)
		if got := queueText(c.rows, &l); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if alone := strings.Count(c.want, ".") < 2; l.told != alone {
			t.Errorf("%s: told %v", name, l.told)
		}
	}
}
