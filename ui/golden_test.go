package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coordtop/ui/terminal"
)

func TestFramesLookAsTheyWereReviewed(t *testing.T) {
	t.Parallel()
	scene := scene(t)
	cases := []struct {
		file   string
		w, h   int
		o      Options
		keys   []string
		styled bool // with the styles: else what is read without any
	}{
		{file: "list-160x48.ansi", w: 160, h: 48, styled: true},
		{file: "list-120x40.txt", w: 120, h: 40},
		{file: "list-80x24.txt", w: 80, h: 24},
		{file: "list-60x15.txt", w: 60, h: 15},
		{file: "list-20x5.txt", w: 20, h: 5},
		{file: "nocolor-80x24.ansi", w: 80, h: 24, o: Options{NoColor: true}, styled: true},
		{file: "ascii-80x24.txt", w: 80, h: 24, o: Options{ASCII: true}},
		{file: "events-80x24.txt", w: 80, h: 24, keys: []string{"tab"}},
		{file: "queue-120x40.txt", w: 120, h: 40, keys: []string{"/", "o", "u", "t", "b", "enter", "j"}},
		{file: "detail-100x40.txt", w: 100, h: 40, keys: []string{"enter"}},
		{file: "detail-120x40.txt", w: 120, h: 40, keys: []string{"enter"}},
		{file: "light-80x24.ansi", w: 80, h: 24, o: Options{Theme: "light"}, styled: true},
		{file: "detail-80x24.txt", w: 80, h: 24, keys: []string{"enter"}},
		{file: "detail-160x48.ansi", w: 160, h: 48, keys: []string{"enter"}, styled: true},
		{file: "detail-ascii-80x24.txt", w: 80, h: 24, o: Options{ASCII: true}, keys: []string{"enter"}},
		{file: "detail-nocolor-80x24.ansi", w: 80, h: 24, o: Options{NoColor: true}, keys: []string{"enter"}, styled: true},
		{file: "detail-60x15.txt", w: 60, h: 15, keys: []string{"enter"}},
		{file: "problems-80x24.txt", w: 80, h: 24, keys: []string{"!", "j", "j"}},
		{file: "filter-80x24.txt", w: 80, h: 24, keys: []string{"/", "s", "h", "a", "r", "d"}},
		{file: "events-screen-80x24.txt", w: 80, h: 24, keys: []string{"5", "j"}},
		{file: "events-screen-160x48.txt", w: 160, h: 48, keys: []string{"5", "j"}},
		{file: "sources-80x24.txt", w: 80, h: 24, keys: []string{"o"}},
		{file: "sources-160x48.txt", w: 160, h: 48, keys: []string{"o"}},
		{file: "timeline-160x48.ansi", w: 160, h: 48, keys: []string{"3", "["}, styled: true},
		{file: "timeline-100x30.txt", w: 100, h: 30, keys: []string{"3", "j", "j", "[", "["}},
		{file: "timeline-80x24.txt", w: 80, h: 24, keys: []string{"3"}},
		{file: "timeline-60x15.txt", w: 60, h: 15, keys: []string{"3"}},
		{file: "timeline-ascii-80x24.txt", w: 80, h: 24, o: Options{ASCII: true}, keys: []string{"3", "h", "h"}},
		{file: "timeline-nocolor-80x24.ansi", w: 80, h: 24, o: Options{NoColor: true}, keys: []string{"3", "h", "h"}, styled: true},
		{file: "pulse-80x24.txt", w: 80, h: 24, keys: []string{"1"}},
		{file: "pulse-160x48.ansi", w: 160, h: 48, keys: []string{"1"}, styled: true},
		{file: "pulse-light-80x24.ansi", w: 80, h: 24, o: Options{Theme: "light"}, keys: []string{"1", "j", "j"}, styled: true},
		{file: "pulse-ascii-80x24.txt", w: 80, h: 24, o: Options{ASCII: true}, keys: []string{"1"}},
		{file: "pulse-60x15.txt", w: 60, h: 15, keys: []string{"1"}},
		{file: "help-80x24.txt", w: 80, h: 24, keys: []string{"?"}},
	}
	events, _ := scene.Events(1 << 20)
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			c.o.Width, c.o.Height, c.o.TitleColor = c.w, c.h, "red"
			d := drive(newTestFeed(scene.State()), c.o)
			d.feed.Pass(scene.Now().Sub(d.feed.Now()))
			d.feed.Tell(events...)
			d.send(terminal.SecondMsg{})
			if c.o.Theme != "" { // it shows where there are more than 16 colours
				d.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
			}
			d.press(c.keys...)
			got := d.View().Content
			if !c.styled {
				got = d.text()
			}
			golden(t, c.file, got)
		})
	}
}
