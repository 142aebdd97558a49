package screen

import (
	"slices"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// factLines are what a backend tells under its own names, as many to a line as fit, behind the name
// of whom they are about, which has the room that they are indented by. Instants are shown as ages.
func factLines(sc *Scene, name string, attrs []sources.Attr, w, indent int) []string {
	var lines []string
	l := sc.Theme.Line(w)
	if name != "" {
		l.Skip(4).Cell("", name, indent-6)
	}
	l.To(indent)
	flush := func() {
		if l.X > indent {
			lines = append(lines, l.Done())
			l = sc.Theme.Line(w).Skip(indent)
		}
	}
	for i := range attrs {
		key, value := paint.Clean(attrs[i].Key), factValue(sc, attrs[i].Value)
		if value == "" {
			continue
		}
		if l.X > indent && l.X+2+format.Width(key)+1+format.Width(value) > w {
			flush()
		}
		if l.X > indent {
			l.Skip(2)
		}
		l.Put(sc.Theme.Dim, key).Skip(1)
		pieces := paint.Wrap(value, max(w-l.X, 20))
		for j, piece := range pieces {
			if j > 0 {
				flush()
				l.Skip(2)
			}
			l.Put(factStyle(sc, attrs[i]), piece)
		}
	}
	flush()
	return lines
}

// twoColumns is from how many cells on facts stand in two columns of pairs.
const twoColumns = 110

// factColumns are facts as pairs of name and value below each other, in two columns where
// there is room, the left one first.
func factColumns(sc *Scene, attrs []sources.Attr, w int) []string {
	attrs = slices.DeleteFunc(slices.Clone(attrs), func(a sources.Attr) bool { return factValue(sc, a.Value) == "" })
	if len(attrs) == 0 {
		return nil
	}
	left, width := len(attrs), w-4
	if w >= twoColumns && len(attrs) > 1 {
		left, width = (len(attrs)+1)/2, (w-4)/2
	}
	lines := factPairs(sc, attrs[:left], width)
	if left == len(attrs) {
		return pasteColumns(sc, lines, nil, 0, w)
	}
	used := 0
	for _, p := range lines {
		used = max(used, p.keys+2+format.Width(p.value.Text)+4)
	}
	return pasteColumns(sc, lines, factPairs(sc, attrs[left:], width), min(used, width), w)
}

// pair is a line of a column of facts.
type pair struct {
	key   string
	keys  int // cells of the key
	value paint.Part
}

// factPairs are facts as lines of at most w cells; a value goes on over as many as it needs.
func factPairs(sc *Scene, attrs []sources.Attr, w int) []pair {
	keys := 0
	for i := range attrs {
		keys = max(keys, min(format.Width(paint.Clean(attrs[i].Key)), w/3))
	}
	var lines []pair
	for i := range attrs {
		key := paint.Clean(attrs[i].Key)
		for _, piece := range paint.Wrap(factValue(sc, attrs[i].Value), w-keys-4) {
			lines = append(lines, pair{key, keys, factStyle(sc, attrs[i]).Text(piece)})
			key = ""
		}
	}
	return lines
}

// pasteColumns draws two columns of pairs side by side, the right one from that cell on.
func pasteColumns(sc *Scene, left, right []pair, from, w int) []string {
	lines := make([]string, 0, max(len(left), len(right)))
	for i := range max(len(left), len(right)) {
		l := sc.Theme.Line(w).Skip(4)
		put := func(p pair) { l.Cell(sc.Theme.Dim, p.key, p.keys).Skip(2).Put(p.value.Style, p.value.Text) }
		if i < len(left) {
			put(left[i])
		}
		if i < len(right) {
			l.To(4 + from)
			put(right[i])
		}
		lines = append(lines, l.Done())
	}
	return lines
}

// factValue is a fact fit for drawing: an instant as how long ago it was.
func factValue(sc *Scene, value string) string {
	if len(value) >= len("2006-01-02T15:04:05Z") && len(value) <= len(time.RFC3339Nano) {
		if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return paint.TimeOfDay(t, sc.Now) + ", " + format.Age(sc.Now.Sub(t)) + " ago"
		}
	}
	return paint.Clean(value)
}

// factStyle draws attention to what is worth a look.
func factStyle(sc *Scene, a sources.Attr) paint.Style {
	if a.Odd {
		return sc.Theme.Warn
	}
	return ""
}
