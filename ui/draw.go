package ui

import (
	"strings"

	"coordtop/ui/paint"
)

// windowTitle says which environment this is and how many problems there are, for whoever
// looks at another window.
func windowTitle(sc *scene) string {
	if sc.title == "coordtop" {
		return "coordtop: " + problemsText(sc, fullWidth)
	}
	return "coordtop " + sc.title + ": " + problemsText(sc, fullWidth)
}

// drawScene returns exactly h lines of w cells; none where the size is not known yet.
func drawScene(sc *scene) frame {
	l, f := sc.lay, frame{scroll: sc.scroll, helpAt: sc.helpAt}
	if l.w == 0 || l.h == 0 {
		return f
	}
	f.lines = make([]string, 0, l.h)
	f.lines = append(f.lines, drawHeader(sc, l.w, l.header)...)
	part := views()[sc.view].draw(sc)
	f.lines, f.scroll, f.helpAt = append(f.lines, part.lines...), part.scroll, part.helpAt
	f.lines = append(f.lines, drawFooter(sc, l.w))
	f.lines = sc.th.Box(f.lines, l.w, l.h)
	return f
}

// fixed is a frame of lines in which nothing scrolls.
func fixed(sc *scene, lines []string) frame { return frame{lines, sc.scroll, sc.helpAt} }

// scrolling draws the lines of a screen from the scroll position on.
func scrolling(draw func(sc *scene, w int) []string) func(*scene) frame {
	return func(sc *scene) frame {
		lines, h := draw(sc, sc.lay.w), sc.lay.body()
		f := fixed(sc, nil)
		f.scroll = max(min(f.scroll, len(lines)-h), 0)
		f.lines = sc.th.Box(lines[min(f.scroll, len(lines)):], sc.lay.w, h)
		return f
	}
}

// board is the list and what stands around it.
func board(sc *scene) frame {
	l := sc.lay
	lines := troubleLines(sc, l.w, l.trouble)
	if l.rules > 0 {
		lines = append(lines, sc.th.Line(l.w).Rule().Done())
	}
	lines = append(lines, drawList(sc, l.w, l.list)...)
	if l.rules > 0 {
		rule := sc.th.Line(l.w)
		if l.split > 0 {
			rule.Put(sc.th.Dim, strings.Repeat(sc.th.Glyphs.Rule, l.split)).Put(sc.th.Dim, sc.th.Tee)
		}
		lines = append(lines, rule.Rule().Done())
	}
	return fixed(sc, append(lines, drawLower(sc, l)...))
}

// drawLower is what stands below the list: one pane, or two.
func drawLower(sc *scene, l layout) []string {
	switch {
	case l.lower == 0:
		return nil
	case l.split > 0:
		left, right := detailPane(sc, l.split, l.lower), eventPane(sc, l.w-l.split-2, l.lower)
		lines := make([]string, l.lower)
		for i := range lines {
			lines[i] = left[i] + string(sc.th.Dim) + sc.th.Upright + paint.Reset + " " + right[i]
		}
		return lines
	case l.stacked > 0:
		lines := detailPane(sc, l.w, l.stacked-1)
		lines = append(lines, sc.th.Line(l.w).Done())
		return append(lines, paint.Indented(eventPane(sc, l.w-1, l.lower-l.stacked))...)
	case sc.pane == paneEvents:
		return paint.Indented(eventPane(sc, l.w-1, l.lower))
	}
	return detailPane(sc, l.w, l.lower)
}
