package diagnose

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"coordtop/sources"
)

func TestFindingsDoNotDependOnTheOrderOfTheirRows(t *testing.T) {
	t.Parallel()
	rows := []*sources.Row{
		lost("a", "host-1:1", time.Minute, expired, inferred), lost("b", "host-1:1", time.Minute, expired, inferred),
		lost("c", "", time.Minute, expired, inferred), lost("d", "", time.Minute, expired, inferred),
		queued(owned("postgres", "1", "host-2:1"), "host-3:1"), queued(owned("postgres", "2", "host-3:1"), "host-2:1"),
		queued(owned("postgres", "3", "host-4:1"), "host-5:1"), queued(owned("postgres", "4", "host-5:1"), "host-6:1"),
	}
	for n := range mostExplained + 100 {
		for _, source := range []string{"redis-1", "redis-2", "redis-3\x01", "redis-3\x02"} {
			row := owned(source, fmt.Sprint("lock-", n), "host-1:1")
			row.Owners[0].Session = ""
			rows = append(rows, row)
		}
	}
	in := input(state(rows...))
	for _, row := range rows {
		row.Slot = 0 // as if no slot were older than another
	}
	first := Find(in)
	for range 8 {
		in.Rows = append([]*sources.Row(nil), in.Rows...)
		rand.Shuffle(len(in.Rows), func(i, j int) { in.Rows[i], in.Rows[j] = in.Rows[j], in.Rows[i] })
		again := Find(in)
		if len(again) != len(first) {
			t.Fatalf("%d findings, then %d", len(first), len(again))
		}
		for i := range first {
			if !reflect.DeepEqual(first[i], again[i]) {
				t.Fatalf("finding %d is %q of %q, then %q of %q", i, first[i].Title, first[i].Source, again[i].Title, again[i].Source)
			}
		}
	}
}
