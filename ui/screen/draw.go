package screen

import (
	"strings"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// NoTitle is the title if the environment has no name.
const NoTitle = "coordtop"

// WindowTitle returns the environment and the number of problems, for people who work in another
// window.
func WindowTitle(sc *Scene) string {
	if sc.Replay != nil {
		return "coordtop " + sc.Title + ": replay of " + sc.Now.Format("15:04")
	}
	if sc.Title == NoTitle {
		return "coordtop: " + problemsText(sc, fullWidth)
	}
	return "coordtop " + sc.Title + ": " + problemsText(sc, fullWidth)
}

// Draw returns a Frame of the layout's size; without lines if the size is not known yet.
func Draw(sc *Scene) Frame {
	l, f := sc.Layout, Frame{Scroll: sc.Scroll, HelpAt: sc.HelpAt}
	if l.Width == 0 || l.Height == 0 {
		return f
	}
	if sc.Replay != nil && sc.Replay.InHole() && sc.Shown != Trouble {
		faded := *sc
		faded.Theme.Over = sc.Theme.Dim
		sc = &faded
	}
	f.Lines = make([]string, 0, l.Height)
	f.Lines = append(f.Lines, drawHeader(sc, l.Width, l.Header)...)
	part := viewTable()[sc.Shown].draw(sc)
	f.Lines, f.Scroll, f.HelpAt = append(f.Lines, part.Lines...), part.Scroll, part.HelpAt
	foot := drawFooter(sc, l.Width)
	foot = foot[max(len(foot)-l.Height, 0):]
	f.Lines = append(sc.Theme.Box(f.Lines, l.Width, l.Height-len(foot)), foot...)
	return f
}

// fixed returns the frame of a screen that does not scroll.
func fixed(sc *Scene, lines []string) Frame { return Frame{lines, sc.Scroll, sc.HelpAt} }

// scrolling draws a screen from the scroll position on. The last line counts the lines below it.
func scrolling(draw func(sc *Scene, w int) []string) func(*Scene) Frame {
	return func(sc *Scene) Frame {
		lines, h := draw(sc, sc.Layout.Width), sc.Layout.Body()
		f := fixed(sc, nil)
		f.Scroll = max(min(f.Scroll, len(lines)-h), 0)
		f.Lines = sc.Theme.Box(lines[min(f.Scroll, len(lines)):], sc.Layout.Width, h)
		if below := len(lines) - f.Scroll - h; below > 0 && h > 1 {
			more := paint.Count(below+1, "more line") + ": " + sc.Keys.KeyIn(sc.KeyContext, keys.Down)
			f.Lines[h-1] = sc.Theme.Line(sc.Layout.Width).Skip(2).Put(sc.Theme.Dim, more).Done()
		}
		return f
	}
}

// locksScreen draws the troubles of sources, the list, and the panes.
func locksScreen(sc *Scene) Frame {
	l := sc.Layout
	lines := sourceTroubleLines(sc, l.Width, l.Trouble)
	if l.rules > 0 {
		lines = append(lines, sc.Theme.Line(l.Width).Rule().Done())
	}
	lines = append(lines, drawLocks(sc, l.Width, l.List)...)
	if l.rules > 0 {
		rule := sc.Theme.Line(l.Width)
		if l.Split > 0 {
			rule.Put(sc.Theme.Dim, strings.Repeat(sc.Theme.Glyphs.Rule, l.Split)).Put(sc.Theme.Dim, sc.Theme.Tee)
		}
		lines = append(lines, rule.Rule().Done())
	}
	return fixed(sc, append(lines, drawLower(sc, l)...))
}

// drawLower draws the pane or the two panes below the list.
func drawLower(sc *Scene, l Layout) []string {
	switch {
	case l.lower == 0:
		return nil
	case l.Split > 0:
		left, right := detailPane(sc, l.Split, l.lower), eventPane(sc, l.Width-l.Split-2, l.lower)
		lines := make([]string, l.lower)
		for i := range lines {
			lines[i] = left[i] + string(sc.Theme.Dim) + sc.Theme.Upright + paint.Reset + " " + right[i]
		}
		return lines
	case l.Stacked > 0:
		lines := detailPane(sc, l.Width, l.Stacked-1)
		lines = append(lines, sc.Theme.Line(l.Width).Done())
		return append(lines, paint.Indented(eventPane(sc, l.Width-1, l.lower-l.Stacked))...)
	case sc.Pane == EventPane:
		return paint.Indented(eventPane(sc, l.Width-1, l.lower))
	}
	return detailPane(sc, l.Width, l.lower)
}
