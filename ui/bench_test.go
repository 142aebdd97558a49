package ui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"coordtop/internal/fleet"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// load is a board whose feed publishes ten states a second with a tenth of the changes
// of a second each. One change in a hundred is a row that loses its leader or gets one.
type load struct {
	*driver
	prims []*sources.Primitive
	round int
}

func newLoad(rows int) *load {
	prims := uitest.Many(rows, noon())
	return &load{driver: drive(newTestFeed(uitest.State(noon(), prims...)), Options{}), prims: prims}
}

// step publishes the next state.
func (l *load) step(changes int) {
	l.round++
	st := *l.feed.State()
	st.Rev++
	st.At = st.At.Add(100 * time.Millisecond)
	st.Rows = slices.Clone(st.Rows)
	for i := range changes {
		slot := (l.round*7919 + i*104729) % len(st.Rows)
		p := l.prims[slot]
		if i%100 == 0 && len(st.Rows[slot].Owners) > 0 {
			st.Rows[slot] = uitest.Row(uitest.Leaderless(p.Name, st.At.Add(-time.Minute)), slot)
		} else {
			st.Rows[slot] = uitest.Row(uitest.Led(p.Name, "host-01:4411", st.At), slot)
		}
	}
	l.feed.Set(&st)
}

func BenchmarkWakeUp(b *testing.B) {
	for _, c := range []struct{ rows, changes int }{{10_000, 100}, {100_000, 1000}} {
		b.Run(fmt.Sprintf("rows=%d/changes=%d", c.rows, c.changes), func(b *testing.B) {
			l := newLoad(c.rows)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				l.step(c.changes)
				b.StartTimer()
				l.send(terminal.WakeMsg{})
			}
		})
	}
}

func BenchmarkSecond(b *testing.B) {
	for _, rows := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			l := newLoad(rows)
			b.ReportAllocs()
			for b.Loop() {
				l.send(terminal.SecondMsg{})
			}
		})
	}
}

func BenchmarkPulse(b *testing.B) { // a second, with 1,000 rows that have lost their leaders, one by one
	for _, rows := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			l := newLoad(rows)
			for _, p := range l.prims { // else all of them are late soon
				p.Owners[0].NoExpiry, p.Owners[0].Session = true, p.Name
			}
			st := *l.feed.State()
			st.Rows = slices.Clone(st.Rows)
			for i := range 1000 {
				st.Rows[i*7] = uitest.Row(uitest.Leaderless(l.prims[i*7].Name, noon().Add(-time.Minute)), i*7)
			}
			l.show(&st)
			l.pass(1)
			l.press("1")
			b.ReportAllocs()
			for b.Loop() {
				l.pass(1)
			}
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {160, 48}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			d := drive(newTestFeed(uitest.State(noon(), uitest.Many(10_000, noon())...)), Options{Width: size[0], Height: size[1]})
			b.ReportAllocs()
			for b.Loop() {
				d.draw()
			}
		})
	}
}

func BenchmarkTyping(b *testing.B) {
	for _, rows := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			l := newLoad(rows)
			l.press("/")
			b.ReportAllocs()
			for b.Loop() {
				l.press("9", "backspace")
			}
		})
	}
}

// BenchmarkOwnersFrame is a second of the Owners screen in which the parties are brought, and a key.
func BenchmarkOwnersFrame(b *testing.B) {
	const rows = 100_000
	for _, c := range []struct {
		name  string
		owner func(i int) string
	}{
		{"97 hosts", func(i int) string { return fmt.Sprintf("host-%02d:4411", i%97) }},
		{"one host", func(int) string { return "host-01:4411" }},
		{"as many hosts as rows", func(i int) string { return fmt.Sprintf("host-%06d:4411", i) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			prims := make([]*sources.Primitive, rows)
			for i := range prims {
				prims[i] = uitest.Led(fmt.Sprintf("app:leader:shard-%06d", i), c.owner(i), noon())
			}
			d := drive(newTestFeed(uitest.State(noon(), prims...)), Options{})
			d.counted("4")
			in := fleet.Input{State: d.State, Now: noon(), By: d.Owners.By}
			msg := partiesMsg{in, fleet.Parties(&in)}
			for b.Loop() {
				d.owners.running = true // nothing is counted meanwhile
				d.send(msg)
				d.owners.running = true
				d.send(key("j"))
			}
		})
	}
}
