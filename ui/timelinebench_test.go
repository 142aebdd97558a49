package ui

import (
	"fmt"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// BenchmarkTimelineFrame draws a page of lanes with so many terms each in the window.
func BenchmarkTimelineFrame(b *testing.B) {
	for _, terms := range []int{1, 64, 2000} {
		b.Run(fmt.Sprintf("terms=%d", terms), func(b *testing.B) {
			var rows []*sources.Row
			for i := range 40 {
				rows = append(rows, changing(fmt.Sprintf("lane-%02d", i), 20*time.Minute/time.Duration(terms), terms, i))
			}
			d := lanes(160, 48, rows...)
			b.ReportAllocs()
			for b.Loop() {
				d.draw()
			}
		})
	}
}

// BenchmarkTimelinePan moves the window by its length, there and back.
func BenchmarkTimelinePan(b *testing.B) {
	for _, c := range []struct{ rows, terms int }{{40, 2000}, {10_000, 60}} {
		b.Run(fmt.Sprintf("rows=%d,terms=%d", c.rows, c.terms), func(b *testing.B) {
			var rows []*sources.Row
			for i := range c.rows {
				rows = append(rows, changing(fmt.Sprintf("lane-%05d", i), 20*time.Minute/time.Duration(c.terms), c.terms, i))
			}
			d := lanes(160, 48, rows...)
			for b.Loop() {
				d.press("H", "L")
			}
		})
	}
}

// BenchmarkTimelineSecond lets a second pass, in which all lanes are summed up.
func BenchmarkTimelineSecond(b *testing.B) {
	for _, rows := range []int{40, 10_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			st := uitest.State(noon(), uitest.Many(rows, noon())...)
			for _, r := range st.Rows {
				r.Terms[0].Start.At = noon().Add(-time.Hour)
			}
			st.Scopes[0].Since = noon().Add(-time.Hour)
			d := drive(newTestFeed(st), Options{})
			d.press("3")
			b.ReportAllocs()
			for b.Loop() {
				d.feed.Pass(time.Second)
				d.send(terminal.SecondMsg{})
			}
		})
	}
}
