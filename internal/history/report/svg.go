package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/internal/history"
	"coordtop/sources"
)

// The measures of the picture, in its units.
const (
	width     = 1000
	names     = 230 // left of the lanes
	margin    = 10
	laneHigh  = 28
	barHigh   = 14
	head      = 46
	gapWide   = 3  // the least width of a gap, so that none is too narrow to be seen
	letters   = 12 // the least width of a run that has its letter
	hues      = 8
	titledRun = 1000 // up to so many runs each has its own title
)

// style has two sets of colours, for light and for dark pages.
const style = `svg{background:var(--page)}
text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:var(--ink)}.dim{fill:var(--dim)}.grid{stroke:var(--grid)}
.gap{fill:var(--bad)}.level{fill:var(--dim)}.dark{stroke:var(--dim);stroke-dasharray:1 4;stroke-width:2}.in{fill:var(--page);font-weight:bold}
svg{--page:#ffffff;--ink:#1f2328;--dim:#6e7781;--grid:#d0d7de;--bad:#cf222e;--h0:#0550ae;--h1:#8250df;--h2:#1b7c83;--h3:#116329;--h4:#3b5bdb;--h5:#a0408f;--h6:#57606a;--h7:#4d6b00}
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--ink:#e6edf3;--dim:#8b949e;--grid:#30363d;--bad:#ff7b72;--h0:#79c0ff;--h1:#d2a8ff;--h2:#76e3ea;--h3:#7ee787;--h4:#a5b4fc;--h5:#f0a6e0;--h6:#c9d1d9;--h7:#c0d860}}
`

// SVG draws who owned each primitive. Gaps are drawn last and over the whole height.
func (r *Report) SVG(out io.Writer) error {
	var b strings.Builder
	high := head + len(r.lanes)*laneHigh + 3*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="t d">`+"\n", width, high)
	gaps, runs := 0, 0
	for i := range r.lanes {
		gaps += len(r.lanes[i].Gaps(r.Span))
		runs += len(r.lanes[i].Terms)
	}
	title := fmt.Sprintf("Who owned what, %s to %s", r.at(r.Span.From), r.at(r.Span.To))
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<desc id=\"d\">%d primitives, %d terms, %d times without an owner.</desc>\n<style>\n", escaped(title), len(r.lanes), runs, gaps)
	for h := range hues {
		fmt.Fprintf(&b, ".o%d{fill:var(--h%d)}", h, h)
	}
	b.WriteString(style + "</style>\n")
	fmt.Fprintf(&b, `<text x="%d" y="18">%s</text>`+"\n", margin, escaped(title))
	r.axis(&b, high)
	for i := range r.lanes {
		r.lane(&b, i, runs <= titledRun)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// x is where an instant is, not outside of the lanes.
func (r *Report) x(t time.Time) float64 {
	part := float64(t.Sub(r.Span.From)) / float64(r.Span.To.Sub(r.Span.From))
	return names + min(max(part, 0), 1)*(width-names-margin)
}

// axis draws a line at round times, eight of them at most.
func (r *Report) axis(b *strings.Builder, high int) {
	span, step := r.Span.To.Sub(r.Span.From), time.Second
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
	for t := r.Span.From.Truncate(step).Add(step); t.Before(r.Span.To); t = t.Add(step) {
		x := r.x(t)
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="dim" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, head-4, x, high-margin, x, head-8, t.In(r.Zone).Format(form))
	}
}

// lane draws one primitive. titled: each run says what it is.
func (r *Report) lane(b *strings.Builder, i int, titled bool) {
	l := &r.lanes[i]
	top := head + i*laneHigh
	middle := top + laneHigh/2
	fmt.Fprintf(b, `<g><title>%s</title><text x="%d" y="%d">%s</text>`, escaped(l.Ref.Source+"/"+l.Ref.Name), margin, middle+4, escaped(format.Clean(l.Ref.Name, 28)))
	for _, d := range r.unobserved(l) {
		fmt.Fprintf(b, `<line class="dark" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, r.x(d.From), middle, r.x(d.To), middle)
	}
	r.levels(b, l, top)
	for j := range l.Terms {
		t := &l.Terms[j]
		if l.Leveled() {
			break // they overlap
		}
		until := r.Span.To
		if t.End.How != sources.Unknown {
			until = t.End.At
		}
		r.run(b, l, t, until, top, titled)
	}
	for _, g := range l.Gaps(r.Span) {
		to := r.Span.To
		if g.After != nil {
			to = sources.Earlier(g.End.At, to)
		}
		for _, part := range without(history.Span{From: sources.Later(g.Start.At, r.Span.From), To: to}, r.unobserved(l)) {
			x := r.x(part.From)
			w := max(r.x(part.To)-x, gapWide)
			fmt.Fprintf(b, `<rect class="gap" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>`, x, top+2, w, laneHigh-6,
				escaped("nobody: "+r.at(g.Start.At)+", "+length(g.Length)))
			fmt.Fprintf(b, `<path class="gap" d="M%.1f %dl-4 5h8z"/>`, x+w/2, top+laneHigh-4)
		}
	}
	b.WriteString("</g>\n")
}

// levels draws how many permits of a semaphore were taken.
func (r *Report) levels(b *strings.Builder, l *history.Lane, top int) {
	most := uint64(1)
	for _, level := range l.Levels {
		most = max(most, level.High)
	}
	for i, level := range l.Levels {
		until := r.Span.To
		if i+1 < len(l.Levels) {
			until = l.Levels[i+1].At
		}
		high := float64(barHigh) * float64(level.High) / float64(most)
		for _, part := range without(history.Span{From: sources.Later(level.At, r.Span.From), To: sources.Earlier(until, r.Span.To)}, r.unobserved(l)) {
			fmt.Fprintf(b, `<rect class="level" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%d taken</title></rect>`,
				r.x(part.From), float64(top+(laneHigh+barHigh)/2)-high, max(r.x(part.To)-r.x(part.From), 1), high, level.High)
		}
	}
}

// run draws a term, in the parts of it that were observed.
func (r *Report) run(b *strings.Builder, l *history.Lane, t *sources.Term, until time.Time, top int, titled bool) {
	first := true
	for _, part := range without(history.Span{From: sources.Later(t.Start.At, r.Span.From), To: sources.Earlier(until, r.Span.To)}, r.unobserved(l)) {
		x, end := r.x(part.From), r.x(part.To)
		fmt.Fprintf(b, `<rect class="o%d" x="%.1f" y="%d" width="%.1f" height="%d">`, t.Hue%hues, x, top+(laneHigh-barHigh)/2, max(end-x, 1), barHigh)
		if titled {
			fmt.Fprintf(b, "<title>%s</title>", escaped(t.Owner.Name()+", "+r.at(t.Start.At)+" to "+r.at(until)))
		}
		b.WriteString("</rect>")
		if first && end-x >= letters {
			fmt.Fprintf(b, `<text class="in" x="%.1f" y="%d">%c</text>`, x+2, top+laneHigh/2+4, 'A'+rune(t.Hue%26))
		}
		first = false
	}
}

// unobserved are the stretches in which a lane was not, in the span: those of the recording too.
func (r *Report) unobserved(l *history.Lane) []history.Span {
	all := r.unrecorded()
	for _, d := range l.Dark {
		to := d.To
		if to.IsZero() {
			to = r.Span.To
		}
		all = append(all, history.Span{From: d.From, To: to})
	}
	return all
}

// without is what is left of a stretch.
func without(s history.Span, holes []history.Span) []history.Span {
	parts := []history.Span{s}
	for _, h := range holes {
		var left []history.Span
		for _, p := range parts {
			for _, q := range []history.Span{{From: p.From, To: sources.Earlier(p.To, h.From)}, {From: sources.Later(p.From, h.To), To: p.To}} {
				if q.From.Before(q.To) {
					left = append(left, q)
				}
			}
		}
		parts = left
	}
	return parts
}

// escaped is a text fit for XML.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(format.Clean(s, 300))) // to memory it cannot fail
	return b.String()
}
