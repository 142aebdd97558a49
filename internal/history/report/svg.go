package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
)

// The measures of the picture, in its units.
const (
	width     = 1000
	margin    = 10
	head      = 46  // height above the lanes
	foot      = 40  // height below the lanes, for the legend
	charWide  = 7.4 // width of a character
	nameCells = 36  // the longest name, left of the lanes
	mostLanes = 40
	hues      = 8
)

// shapes, light and dark are the style sheet. The page's colour scheme selects light or dark.
const (
	shapes = `text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}.in{font-weight:bold}.first{font-size:9px}.dark{stroke-dasharray:1 4;stroke-width:2}.event{stroke-dasharray:4 3}`
	light  = `svg{background:#fff}text{fill:#1f2328}.in{fill:#fff}.dim,.level{fill:#6e7781}.dark{stroke:#6e7781}.grid{stroke:#d0d7de}.gap{fill:#cf222e}.free{fill:#d0d7de}.event{stroke:#9a6700;fill:#9a6700}` +
		`.o0{fill:#0550ae}.o1{fill:#8250df}.o2{fill:#1b7c83}.o3{fill:#116329}.o4{fill:#3b5bdb}.o5{fill:#a0408f}.o6{fill:#57606a}.o7{fill:#4d6b00}`
	dark = `svg{background:#0d1117}text{fill:#e6edf3}.in{fill:#0d1117}.dim,.level{fill:#8b949e}.dark{stroke:#8b949e}.grid{stroke:#30363d}.gap{fill:#ff7b72}.free{fill:#30363d}.event{stroke:#d29922;fill:#d29922}` +
		`.o0{fill:#79c0ff}.o1{fill:#d2a8ff}.o2{fill:#76e3ea}.o3{fill:#7ee787}.o4{fill:#a5b4fc}.o5{fill:#f0a6e0}.o6{fill:#c9d1d9}.o7{fill:#c0d860}`
	hatched = `<pattern id="many" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="gap" d="M0 0h2v4h-2z"/></pattern>`
)

// picture is the timeline of a Report while it is drawn.
type picture struct {
	*Report
	strings.Builder
	lanes  []history.Lane
	labels []string
	left   float64 // x of the beginning of the lanes
	high   int
	titled bool // each term has its own title
}

// SVG draws who owned each primitive. Times without a leader are drawn last and over the whole height; a free mutex is
// a thin grey line.
func (r *Report) SVG(out io.Writer) error {
	p := picture{Report: r, lanes: r.lanes[:min(len(r.lanes), mostLanes)]}
	p.high = head + len(p.lanes)*laneHigh + foot
	gaps, terms := 0, 0
	for i := range p.lanes {
		gaps += len(p.lanes[i].Gaps(r.Span))
		terms += len(p.lanes[i].Terms)
	}
	p.titled = terms <= titledTerms
	p.name()
	title := fmt.Sprintf("who owned what, %s to %s (%s)", r.at(r.Span.From), r.at(r.Span.To), r.Span.To.In(r.Zone).Format("MST"))
	if r.Title != "" {
		title = r.Title + ": " + title
	}
	if n := len(r.lanes); n > len(p.lanes) {
		title += fmt.Sprintf(", the first %d of %s primitives: those in the worst trouble, then those that nobody owned for longest", len(p.lanes), format.Count(n))
	}
	fmt.Fprintf(&p, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="t d">`+"\n", width, p.high)
	fmt.Fprintf(&p, "<title id=\"t\">%s</title>\n<desc id=\"d\">%d primitives, %d terms, %d times without an owner.</desc>\n", escaped(title), len(p.lanes), terms, gaps)
	fmt.Fprintf(&p, "<style>%s%s@media(prefers-color-scheme:dark){%s}</style>\n<defs>%s</defs>\n", shapes, light, dark, hatched)
	fmt.Fprintf(&p, `<text x="%d" y="18">%s</text>`+"\n", margin, escaped(cut(title, (width-2*margin)*10/74)))
	p.axis()
	for i := range p.lanes {
		p.lane(i)
	}
	p.legend()
	p.WriteString("</svg>\n")
	_, err := io.WriteString(out, p.String())
	return err
}

// name sets the names of the lanes, which have their sources if there are several.
func (p *picture) name() {
	cells := 16
	several := slices.ContainsFunc(p.lanes, func(l history.Lane) bool { return l.Ref.Source != p.lanes[0].Ref.Source })
	for i := range p.lanes {
		name := p.inSource(p.lanes[i].Ref)
		if several {
			name = p.lanes[i].Ref.Source + "/" + name
		}
		name = cut(format.Label(name, 300), nameCells)
		p.labels = append(p.labels, name)
		cells = max(cells, format.Width(name))
	}
	p.left = 2*margin + charWide*float64(cells)
}

// x returns the x coordinate of an instant, limited to the lanes.
func (p *picture) x(t time.Time) float64 {
	part := float64(t.Sub(p.Span.From)) / float64(p.Span.To.Sub(p.Span.From))
	return p.left + min(max(part, 0), 1)*(width-p.left-margin)
}

// axis draws lines at round times, eight at most, and a line for each action or note.
func (p *picture) axis() {
	span, step := p.Span.To.Sub(p.Span.From), time.Second
	for _, step = range []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 28 * 24 * time.Hour} {
		if span/step <= 8 {
			break
		}
	}
	form := "15:04"
	switch {
	case step < time.Minute:
		form = time.TimeOnly
	case step >= 24*time.Hour:
		form = "01-02"
	}
	for t := p.Span.From.Truncate(step).Add(step); t.Before(p.Span.To); t = t.Add(step) {
		x := p.x(t)
		fmt.Fprintf(p, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="dim" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, head-4, x, p.high-foot+4, x, head-10, t.In(p.Zone).Format(form))
	}
	last := 0.0
	for i := range p.events {
		e := &p.events[i]
		if x := p.x(e.At); listed(e) && x > last+1 {
			last = x
			fmt.Fprintf(p, `<g><title>%s</title><line class="event" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><path class="event" d="M%.1f %dl4 4l-4 4l-4-4z"/></g>`+"\n",
				escaped(kindOf(e)+", "+p.at(e.At)+": "+e.Detail), x, head, x, p.high-foot+4, x, head-8)
		}
	}
}

// legend draws the legend.
func (p *picture) legend() {
	x, y := float64(margin), p.high-18
	for _, item := range [][2]string{
		{`<rect class="o0" x="%.1f" y="%d" width="16" height="10"/>`, "an owner"},
		{`<path class="gap" d="M%.1f %dh16v10h-16z"/>`, "nobody leads"},
		{`<path class="free" d="M%.1f %dm0 3h16v4h-16z"/>`, "free"},
		{`<rect fill="url(#many)" x="%.1f" y="%d" width="16" height="10"/>`, "many times nobody"},
		{`<path class="dark" d="M%.1f %dm0 5h16"/>`, "not known"},
		{`<rect class="level" x="%.1f" y="%d" width="16" height="10"/>`, "permits"},
		{`<path class="event" d="M%.1f %dm8 0l5 5l-5 5l-5-5z"/>`, "action, note"},
	} {
		fmt.Fprintf(p, item[0]+`<text class="dim" x="%.1f" y="%d">%s</text>`+"\n", x, y, x+22, y+10, item[1])
		x += 22 + charWide*float64(len(item[1])+2)
	}
}

// cut replaces the middle of a clean text of more than n cells with an ellipsis, because similar long names differ at
// their ends.
func cut(s string, n int) string {
	w := format.Width(s)
	if w <= n {
		return s
	}
	head := (n - 1) / 3
	return ansi.Truncate(s, head, "") + "…" + ansi.TruncateLeft(s, w-(n-1-head), "")
}

// escaped returns a text for XML.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(format.Clean(s, 300))) // writing to memory cannot fail
	return b.String()
}
