package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/ui/uitest"
)

// hours is a load of long leases that are renewed at random instants.
var hours = uitest.Load{Rows: 10_000, Changes: 1000, Lease: time.Hour, Random: true}

// rowsShown are the names of the load's elections on the screen, from top to bottom.
func rowsShown(m *meter) []string {
	var names []string
	for line := range strings.Lines(m.Text()) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "app:leader:") {
				names = append(names, word)
				break
			}
		}
	}
	return names
}

// BenchmarkCalm runs the board as a process of its own, 160x48, in its default order, over
// 10,000 leases of an hour that are renewed at random 1,000 times a second. It reports the
// cost, how many of the frames looked at showed a problem, and how many rows moved.
func BenchmarkCalm(b *testing.B) {
	m := startLoad(b, hours)
	<-time.After(45 * time.Second) // until most rhythms are known: each row is renewed every 10 s on average
	before := rowsShown(m)
	if len(before) < 20 {
		b.Fatalf("%d rows of the load are on the screen:\n%s", len(before), m.Text())
	}
	var r rates
	var problems, moved float64
	for b.Loop() {
		watched := make(chan struct{})
		go func() { // joined below
			defer close(watched)
			for range 40 {
				<-time.After(watchFor / 40)
				if !strings.Contains(m.Text(), "no problems") {
					problems++
				}
				for i, name := range rowsShown(m) {
					if i >= len(before) || before[i] != name {
						moved++
					}
				}
			}
		}()
		r = m.over(watchFor)
		<-watched
	}
	m.quit()
	b.ReportMetric(r.cpu, "cpu-%")
	b.ReportMetric(r.bytes, "bytes/s")
	b.ReportMetric(problems, "frames-with-problems")
	b.ReportMetric(moved, "rows-moved")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkStoppedLeader adds one leader with a lease of 30 s that stops renewing, and
// reports how long after its last renewal it was the first row.
func BenchmarkStoppedLeader(b *testing.B) {
	load := hours
	load.Stops = true
	for b.Loop() {
		began := time.Now()
		m := startLoad(b, load)
		m.Until(b, "the leader that stopped as the first row", 2*time.Minute, func(string) bool {
			rows := rowsShown(m)
			return len(rows) > 0 && slices.Index(rows, uitest.StopsName) == 0
		})
		after := time.Since(began) - uitest.StopsAfter // too long by the time that the process took to start
		if !strings.Contains(m.Text(), "1 problem") {
			b.Errorf("it is first, but no problem:\n%s", m.Text())
		}
		m.quit()
		b.ReportMetric(after.Seconds(), "s-after-its-last-renewal")
	}
	b.ReportMetric(0, "ns/op")
}
