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

// BenchmarkTimelineSecond lets a second pass, in which all lanes are summed up.
func BenchmarkTimelineSecond(b *testing.B) {
	for _, rows := range []int{40, 10_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			d := drive(uitest.NewFeed(uitest.State(noon(), uitest.Many(rows, noon())...)), Options{})
			d.press("3")
			b.ReportAllocs()
			for b.Loop() {
				d.feed.Pass(time.Second)
				d.send(terminal.SecondMsg{})
			}
		})
	}
}
