package mute

import (
	"time"

	"coordtop/internal/diagnose"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// Input is what Decide decides about.
type Input struct {
	Mutes    []Mute // those that are not Live are of no account
	Judge    *verdict.Judge
	Rows     []*sources.Row     // with a problem; others among them are left out
	Findings []diagnose.Finding // that explain them
	Now      time.Time

	// Matches reports whether a filter selects a row. Where a source is silent it is asked about a row that has only
	// the name of the source.
	Matches func(filter string, row *sources.Row, v verdict.Verdict) bool
}

// Decision is what is muted.
type Decision struct {
	Rows     map[sources.Ref]*Mute
	Findings []*Mute          // by the place of the finding: all that it explains is muted; nil: not all is
	Fresh    map[string][]Pin // by the ID of a Mute with a filter: what it covers now for the first time
}

// Decide returns which of the problems are muted at now.
func Decide(in *Input) Decision {
	d := Decision{Rows: map[sources.Ref]*Mute{}, Findings: make([]*Mute, len(in.Findings)), Fresh: map[string][]Pin{}}
	live := in.live()
	if len(live) == 0 {
		return d
	}
	pins := map[sources.Ref]Pin{} // what is the case now
	for i := range in.Findings {
		f := &in.Findings[i]
		for j := range f.Rows {
			pins[f.Rows[j].Ref] = PinOf(f, &f.Rows[j])
		}
	}
	for _, row := range in.Rows {
		is, ok := pins[row.Ref]
		if !ok {
			if is, ok = RowPin(in.Judge, row, in.Now); !ok {
				continue
			}
		}
		if m := d.of(in, live, &is, row); m != nil {
			d.Rows[row.Ref] = m
		}
	}
	for i := range in.Findings {
		d.Findings[i] = d.ofFinding(in, live, &in.Findings[i])
	}
	return d
}

// liveMute is a Mute that is in force.
type liveMute struct {
	*Mute
	here map[string]bool // the sources that are those that it was made about
	pins map[sources.Ref]*Pin
}

func (in *Input) live() (list []liveMute) {
	for i := range in.Mutes {
		m := &in.Mutes[i]
		if !m.Live(in.Now) {
			continue
		}
		l := liveMute{m, map[string]bool{}, make(map[sources.Ref]*Pin, len(m.Pins))}
		for s := range in.Judge.State.Sources {
			of := &in.Judge.State.Sources[s]
			address, known := m.Servers[of.Name]
			l.here[of.Name] = known && address == of.Address
		}
		for p := range m.Pins {
			l.pins[m.Pins[p].Ref()] = &m.Pins[p]
		}
		list = append(list, l)
	}
	return list
}

// of returns the first Mute that covers a problem of a row; nil: none does.
func (d *Decision) of(in *Input, live []liveMute, is *Pin, row *sources.Row) *Mute {
	for i := range live {
		m := &live[i]
		was := m.pins[row.Ref]
		switch {
		case !m.here[row.Source]:
		case was != nil && was.covers(is, m.At, m.Filter == ""):
			return m.Mute
		case was == nil && m.Filter != "" && in.matches(m.Filter, row):
			d.Fresh[m.ID] = append(d.Fresh[m.ID], *is)
			return m.Mute
		}
	}
	return nil
}

func (in *Input) matches(filter string, row *sources.Row) bool {
	v := verdict.Verdict{Status: sources.StatusStale}
	if row.Name != "" {
		v, _ = in.Judge.Weigh(row, in.Now)
	}
	return in.Matches(filter, row, v)
}

// ofFinding returns the Mute of a finding that ends first, if all that it explains is muted.
func (d *Decision) ofFinding(in *Input, live []liveMute, f *diagnose.Finding) (first *Mute) {
	if len(f.Rows) == 0 {
		is := PinsOf(f)[0]
		return d.of(in, live, &is, &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: f.Source}}})
	}
	for i := range f.Rows {
		m := d.Rows[f.Rows[i].Ref]
		if m == nil {
			return nil
		}
		if first == nil || m.Until.Before(first.Until) {
			first = m
		}
	}
	return first
}

// Last moves the findings that are muted, and their Mutes, behind the others, and returns the number of those.
func (d *Decision) Last(findings []diagnose.Finding) (unmuted int) {
	var held []diagnose.Finding
	var by []*Mute
	for i, m := range d.Findings {
		if m != nil {
			held, by = append(held, findings[i]), append(by, m)
			continue
		}
		findings[unmuted], unmuted = findings[i], unmuted+1
	}
	copy(findings[unmuted:], held)
	clear(d.Findings[:unmuted])
	copy(d.Findings[unmuted:], by)
	return unmuted
}

// Pinned returns mutes with fresh Pins, as Decision.Fresh has them. A Pin stays as it is.
func Pinned(list []Mute, fresh map[string][]Pin) []Mute {
	out := make([]Mute, len(list))
	for i, m := range list {
		known := make(map[sources.Ref]bool, len(m.Pins))
		for p := range m.Pins {
			known[m.Pins[p].Ref()] = true
		}
		pins := m.Pins[:len(m.Pins):len(m.Pins)]
		for _, p := range fresh[m.ID] {
			if !known[p.Ref()] {
				pins = append(pins, p)
			}
		}
		m.Pins = pins
		out[i] = m
	}
	return out
}
