package report

import (
	"fmt"
	"iter"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// The measures of a lane.
const (
	laneHigh    = 28
	barHigh     = 14
	gapWide     = 3    // the least width of a gap, so that every gap is visible
	marked      = 4    // up to this number of adjacent narrow gaps, each is drawn
	letters     = 12   // the least width of a bar with a letter
	namedCells  = 6    // the least space for the name of an owner
	firstCells  = 24   // the longest name above a bar
	titledTerms = 1000 // up to this number of terms, each has its own title
)

// lane draws one primitive.
func (p *picture) lane(i int) {
	l := &p.lanes[i]
	top := head + i*laneHigh
	middle := top + laneHigh/2
	fmt.Fprintf(p, `<g><title>%s</title><text x="%d" y="%d">%s</text>`, escaped(l.Ref.Source+"/"+p.inSource(l.Ref)), margin, middle+4, escaped(p.labels[i]))
	for _, d := range l.Dark {
		x, to := p.x(d.From), p.x(p.Span.To)
		if !d.To.IsZero() {
			to = p.x(d.To)
		}
		if x < to {
			fmt.Fprintf(p, `<path class="dark" d="M%.1f %dH%.1f"/>`, x, middle, to)
		}
	}
	if l.Leveled() {
		p.levels(l, top)
	} else {
		p.terms(l, top)
		p.gaps(l, top)
	}
	p.WriteString("</g>\n")
}

// levels draws how many permits of a semaphore were taken. Its terms overlap.
func (p *picture) levels(l *history.Lane, top int) {
	most := uint64(1)
	for _, level := range l.Levels {
		most = max(most, level.High)
	}
	for i, level := range l.Levels {
		until := p.Span.To
		if i+1 < len(l.Levels) {
			until = l.Levels[i+1].At
		}
		high := max(float64(barHigh)*float64(level.High)/float64(most), 1)
		for from, to := range p.observed(level.At, until, l.Dark) {
			x := p.x(from)
			fmt.Fprintf(p, `<rect class="level" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%d taken</title></rect>`,
				x, float64(top+(laneHigh+barHigh)/2)-high, max(p.x(to)-x, 1), high, level.High)
		}
	}
	fmt.Fprintf(p, `<text class="dim" x="%.1f" y="%d">%d</text>`, p.left, top+9, most)
}

// terms draws the terms, in the parts of them that were observed.
func (p *picture) terms(l *history.Lane, top int) {
	drawn, named := 0.0, 0.0
	seen := map[string]bool{} // owners
	for i := range l.Terms {
		t := &l.Terms[i]
		until := p.Span.To
		if t.End.How != sources.Unknown {
			until = t.End.At
		}
		var wide, left float64 // of the widest observed part of the term
		for from, to := range p.observed(t.Start.At, until, l.Dark) {
			x, end := p.x(from), p.x(to)
			if end-drawn < 0.5 {
				continue // too many for the width
			}
			drawn = end
			fmt.Fprintf(p, `<rect class="o%d" x="%.1f" y="%d" width="%.1f" height="%d">`, t.Hue%hues, x, top+(laneHigh-barHigh)/2, max(end-x, 1), barHigh)
			if p.titled {
				fmt.Fprintf(p, "<title>%s</title>", escaped(t.Owner.Name()+", "+p.at(t.Start.At)+" to "+p.at(until)))
			}
			p.WriteString("</rect>")
			if end-x > wide {
				wide, left = end-x, x
			}
		}
		room := int((wide-4)/charWide) - 2
		if wide >= letters {
			text := string('A' + rune(t.Hue%26))
			if room >= namedCells {
				text += " " + cut(format.Label(t.Owner.Name(), 300), room)
			}
			fmt.Fprintf(p, `<text class="in" x="%.1f" y="%d">%s</text>`, left+2, top+laneHigh/2+4, escaped(text))
		}
		if room < namedCells && wide > 0 && !seen[t.Owner.Name()] && left >= named { // above the owner's first bar if that is too short for the name
			name := cut(format.Label(t.Owner.Name(), 300), firstCells)
			fmt.Fprintf(p, `<text class="first" x="%.1f" y="%d">%s</text>`, left, top+6, escaped(name))
			named = left + float64(format.Width(name)+1)*charWide*9/12
		}
		seen[t.Owner.Name()] = true
	}
}

// mark is the mark of a gap, or of an observed part of one.
type mark struct {
	from, to float64
	gap      *lane.Gap
	narrow   bool
}

// gaps draws the times without an owner.
func (p *picture) gaps(l *history.Lane, top int) {
	var marks []mark
	gaps := l.Gaps(p.Span)
	for i := range gaps {
		g := &gaps[i]
		end := p.Span.To
		if g.After != nil {
			end = g.End.At
		}
		for from, to := range p.observed(g.Start.At, end, l.Dark) {
			m := mark{from: p.x(from), to: p.x(to), gap: g}
			if l.Kind == sources.KindMutex {
				fmt.Fprintf(p, `<rect class="free" x="%.1f" y="%d" width="%.1f" height="4"><title>free since %s, %s</title></rect>`, m.from, top+laneHigh/2-2, max(m.to-m.from, 0), escaped(p.at(g.Start.At)), g.Short())
				continue
			}
			if m.narrow = m.to-m.from < gapWide; m.narrow {
				m.from = max(m.to-gapWide, p.left) // so the bar after it keeps its letter
				m.to = m.from + gapWide
			}
			marks = append(marks, m)
		}
	}
	for len(marks) > 0 {
		n := 1
		for n < len(marks) && marks[n-1].narrow && marks[n].narrow && marks[n].from <= marks[n-1].to+1 {
			n++
		}
		p.marks(marks[:n], top)
		marks = marks[n:]
	}
}

// marks draws adjacent gaps. If they are too many for the width, they are hatched, because otherwise they would look
// like one long gap.
func (p *picture) marks(side []mark, top int) {
	draw := func(style string, from, to float64, text string) {
		fmt.Fprintf(p, `<rect %s x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect><path class="gap" d="M%.1f %dl-4 5h8z"/>`,
			style, from, top+2, to-from, laneHigh-6, escaped(text), (from+to)/2, top+laneHigh-4)
	}
	if len(side) <= marked {
		for _, m := range side {
			draw(`class="gap"`, m.from, m.to, "nobody since "+p.at(m.gap.Start.At)+", "+m.gap.Short())
		}
		return
	}
	var sum sources.Interval
	n := 0
	for i, m := range side {
		if i == 0 || m.gap != side[i-1].gap {
			sum = sum.Plus(m.gap.Sum)
			n++
		}
	}
	draw(`fill="url(#many)"`, side[0].from, side[len(side)-1].to, fmt.Sprintf("%d times nobody, %s in all", n, sum.Short()))
}

// observed yields the pieces of a stretch, in the span, that were observed.
func (r *Report) observed(from, to time.Time, dark []sources.Dark) iter.Seq2[time.Time, time.Time] {
	return lane.Observed(sources.Later(from, r.Span.From), sources.Earlier(to, r.Span.To), dark)
}
