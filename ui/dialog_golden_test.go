package ui

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/ui/terminal"
)

func TestDialogsLookAsTheyWereReviewed(t *testing.T) {
	t.Parallel()
	scene := scene(t)
	quota := func(s *action.Status) { // we hold one thing and wait for another
		for _, row := range scene.State().Rows {
			h := action.Holding{Ref: row.Ref, Since: scene.Now().Add(-40 * time.Second)}
			switch row.Name {
			case "search/indexer":
				h.Owner, h.RunsOut, h.Until = row.Owners[0].ID, true, scene.Now().Add(8*time.Second)
			case "orders/outbox":
				h.Waiting, h.GivesUp = true, scene.Now().Add(4*time.Minute)
				s.Runs = append(s.Runs, action.Run{ID: 3, Phase: action.Waiting, Place: 2, Started: h.Since, Changed: h.Since,
					Request: action.Request{Verb: action.Campaign, Target: action.Target{Ref: row.Ref, Kind: row.Kind}}})
			default:
				continue
			}
			s.Holdings = append(s.Holdings, h)
		}
		// The slots of the sources' rows are not the same each time.
		slices.SortFunc(s.Holdings, func(a, b action.Holding) int { return cmp.Compare(a.Ref.Name, b.Ref.Name) })
	}
	cases := []struct {
		file   string
		w, h   int
		o      Options
		keys   []string
		change func(*action.Status)
		styled bool
		refuse error
	}{
		{file: "menu-80x24.txt", w: 80, h: 24, keys: []string{"a"}},
		{file: "menu-readonly-80x24.txt", w: 80, h: 24, keys: []string{"a"}, change: func(s *action.Status) { s.Always = false }},
		{file: "menu-160x48.ansi", w: 160, h: 48, keys: []string{"a"}, change: quota, styled: true},
		{file: "box-80x24.txt", w: 80, h: 24, keys: []string{"a", "a"}},
		{file: "box-80x24.ansi", w: 80, h: 24, keys: []string{"a", "a", "shift+tab", "o"}, styled: true},
		{file: "box-160x48.txt", w: 160, h: 48, keys: []string{"a", "a"}},
		{file: "box-60x15.txt", w: 60, h: 15, keys: []string{"a", "a"}},
		{file: "box-ascii-80x24.txt", w: 80, h: 24, o: Options{ASCII: true}, keys: []string{"a", "a"}},
		{file: "held-80x24.txt", w: 80, h: 24, change: quota},
		{file: "held-160x48.ansi", w: 160, h: 48, change: quota, styled: true},
		{file: "quit-80x24.txt", w: 80, h: 24, keys: []string{"q"}, change: quota},
		{file: "held-unarmed-80x24.txt", w: 80, h: 24, change: func(s *action.Status) { quota(s); s.Always = false }},
		{file: "disarm-80x24.txt", w: 80, h: 24, keys: []string{"W"}, change: quota},
		{file: "arm-80x24.txt", w: 80, h: 24, keys: []string{"W"}, change: func(s *action.Status) { s.Always = false }},
		{file: "arm-protected-80x24.txt", w: 80, h: 24, keys: []string{"W", "y", "l"}, change: func(s *action.Status) { s.Always = false },
			refuse: errors.New("not confirmed: leases is protected: type its name to arm")},
		{file: "arm-misspelt-80x24.txt", w: 80, h: 24, keys: []string{"W", "y", "l", "enter"}, change: func(s *action.Status) { s.Always = false },
			refuse: errors.New("not confirmed: leases is protected: type its name to arm")},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			op := newTestOperator()
			op.ArmErr = c.refuse
			op.Offer = []action.Choice{{Verb: action.Campaign}, {Verb: action.Acquire, Not: "an election is led: campaign for it"},
				{Verb: action.Try, Not: "taken by host-07:4411"}, {Verb: action.Proclaim, Not: "not ours"}, {Verb: action.Resign, Not: "not ours"}}
			op.Effect = action.Effect{Lines: []string{
				"You will lead search/indexer. coordtop does none of the leader's work.",
				"host-07:4411 owns it now, and redis keeps no queue: coordtop asks again and again, and any other may be first.",
				"Kept until you resign or coordtop ends, or up to 30s longer if it dies without a word.",
				"Others see you as ana@jump-2:4711.",
			}, Call: `script: SET "search/indexer" <nonce> PX 30000, if there is no such key; again at most every second`,
				NeedsName: "search/indexer", TakesData: true, DataMax: 4096, Danger: true}
			op.Change(func(s *action.Status) {
				if c.change != nil {
					c.change(s)
				}
			})
			c.o.Width, c.o.Height, c.o.TitleColor, c.o.Operator = c.w, c.h, "red", op
			d := drive(newTestFeed(scene.State()), c.o)
			d.feed.Pass(scene.Now().Sub(d.feed.Now()))
			d.send(terminal.SecondMsg{})
			d.act(c.keys...)
			got := d.View().Content
			if !c.styled {
				got = d.text()
			}
			golden(t, c.file, got)
		})
	}
}
