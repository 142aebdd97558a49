package mute

import (
	"maps"
	"slices"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// Input holds the mutes, and the rows and findings that they may cover.
type Input struct {
	Mutes    []Mute // those that are not Live are of no account
	Judge    *verdict.Judge
	Rows     []*sources.Row     // with a problem; others among them are left out
	Findings []diagnose.Finding // that explain them; Decide moves those that are muted behind the others
	Now      time.Time

	// Matches reports whether a filter selects a row. Where a source is silent it is asked about a row that has only
	// the name of the source.
	Matches func(filter string, row *sources.Row, v verdict.Verdict) bool
}

// Decision lists the muted rows and findings.
type Decision struct {
	Rows     map[sources.Ref]*Mute
	Findings []*Mute // by the place of the finding: all that it explains is muted; nil: not all is
	Unmuted  int     // the number of the findings that are not muted: the first ones
	Mutes    []Mute  // those of the Input, with Pins of what they cover now for the first time
	Fresh    bool    // there are such Pins

	found []diagnose.Finding // by the place of the finding, as of the Input
}

// Decide returns which of the problems are muted at now.
func Decide(in *Input) Decision {
	d := Decision{Rows: map[sources.Ref]*Mute{}, Mutes: slices.Clone(in.Mutes)}
	if len(in.Mutes) > 0 {
		d.decideRows(in)
	}
	var held []diagnose.Finding
	var by []*Mute
	for i := range in.Findings {
		f := in.Findings[i]
		if m := d.ofFinding(in, &f); m != nil {
			held, by = append(held, f), append(by, m)
			continue
		}
		in.Findings[d.Unmuted] = f
		d.Unmuted++
	}
	copy(in.Findings[d.Unmuted:], held)
	d.Findings, d.found = append(make([]*Mute, d.Unmuted), by...), in.Findings
	return d
}

func (d *Decision) decideRows(in *Input) {
	for i := range d.Mutes {
		if m := &d.Mutes[i]; m.Filter != "" {
			m.Pins = maps.Clone(m.Pins)
		}
	}
	patterns := map[sources.Ref]string{}
	for i := range in.Findings {
		for _, r := range in.Findings[i].Rows {
			patterns[r.Ref] = in.Findings[i].Pattern.String()
		}
	}
	for _, row := range in.Rows {
		if is, v := pinOf(in.Judge, row, patterns[row.Ref], in.Now); v.Problem() {
			if m := d.of(in, is, row, v); m != nil {
				d.Rows[row.Ref] = m
			}
		}
	}
}

// of returns the first Mute that covers a problem of a row; nil: none does.
func (d *Decision) of(in *Input, is Pin, row *sources.Row, v verdict.Verdict) *Mute {
	key := keyOf(row.Ref)
	for i := range d.Mutes {
		m := &d.Mutes[i]
		if !m.Live(in.Now) || !m.isFor(in.Judge.State, row.Source) {
			continue
		}
		was, pinned := m.Pins[key]
		if !pinned && m.Filter != "" && in.Matches(m.Filter, row, v) {
			if m.Pins == nil {
				m.Pins = map[string]Pin{}
			}
			m.Pins[key], d.Fresh = is, true
			return m
		}
		if pinned && was.covers(is, m) {
			return m
		}
	}
	return nil
}

// ofFinding returns a Mute of a finding, if all that it explains is muted.
func (d *Decision) ofFinding(in *Input, f *diagnose.Finding) (m *Mute) {
	if len(f.Rows) == 0 {
		row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: f.Source}}}
		return d.of(in, sourcePin(f), row, verdict.Verdict{Status: sources.StatusStale})
	}
	for _, r := range f.Rows {
		if m = d.Rows[r.Ref]; m == nil {
			return nil
		}
	}
	return m
}

// OfSilence returns the Mute of a source that does not answer; nil: it has none.
func (d *Decision) OfSilence(source string) *Mute {
	for i, m := range d.Findings {
		if f := &d.found[i]; f.Pattern == diagnose.ServerSilent && f.Source == source {
			return m
		}
	}
	return nil
}

// Pinned returns mutes with the Pins that other copies of them have besides. A Pin stays as it is.
func Pinned(list, copies []Mute) []Mute {
	out := slices.Clone(list)
	for i := range out {
		at := slices.IndexFunc(copies, func(m Mute) bool { return m.ID == out[i].ID })
		if at < 0 || len(copies[at].Pins) == 0 {
			continue
		}
		pins := maps.Clone(copies[at].Pins)
		maps.Copy(pins, out[i].Pins)
		out[i].Pins = pins
	}
	return out
}
