package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/diagnose"
	"coordtop/internal/objective"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// decideWithin is the time from the start within which Pulse may become the first screen by itself.
const decideWithin = 2 * time.Second

// pulsePart is the Pulse screen as keys change it, and the choice of the first screen.
type pulsePart struct {
	part
	list      *rowList
	attention *attention
	decided   bool              // the first screen is settled
	chosen    *diagnose.Finding // under the cursor when it was listed last; nil: none was
}

// begin explains the problems that are known as long as the first screen depends on them.
func (p *pulsePart) begin() {
	if !p.decided {
		p.attention.diagnose()
		p.note()
	}
}

// note notes since when nothing is wrong, and chooses the first screen. It runs once a second, after diagnose.
func (p *pulsePart) note() {
	s := &p.scene.Pulse
	s.Counts = nil // show counts anew
	s.Whole = s.Whole || len(p.scene.State.Sources) > 0 && screen.UnreadSources(p.scene) == 0
	if len(p.scene.Findings) > 0 {
		s.Calm = time.Time{}
	} else if s.Whole && (s.Calm.IsZero() || s.Calm.After(p.scene.Now)) {
		s.Calm = p.scene.Now
	}
	if !p.decided {
		p.decide()
	}
}

// decide goes to Pulse if something needs a person at the first complete look. If there has been none by the last second
// before the time is over, it goes by what is known.
func (p *pulsePart) decide() {
	bad := slices.ContainsFunc(p.scene.Findings[:p.scene.Muted.Unmuted], func(f diagnose.Finding) bool { return f.Severity == verdict.Bad })
	since, known := p.feeds.clock().Sub(p.scene.Started), p.scene.Pulse.Whole && p.attention.known()
	switch p.decided = true; {
	case since > decideWithin:
	case bad && (known || since >= decideWithin-time.Second):
		p.host.switchTo(screen.Pulse)
	case !known:
		p.decided = false
	}
}

// show brings the screen up to date. The cursor stays on its finding, also when some of its rows have recovered.
func (p *pulsePart) show() {
	s := &p.scene.Pulse
	keys := make([]screen.FindingKey, len(p.scene.Findings))
	for i := range keys {
		keys[i] = screen.KeyOf(&p.scene.Findings[i])
	}
	if was, ok := s.List.Selected(); ok && p.chosen != nil && !slices.Contains(keys, was) {
		for i := range p.chosen.Rows {
			if at, ok := p.scene.Causes[p.chosen.Rows[i].Ref]; ok {
				s.List.Replace(was, keys[at])
				break
			}
		}
	}
	s.List.SetKeys(keys)
	p.chosen = nil
	if len(keys) > 0 {
		p.chosen = &p.scene.Findings[s.List.Pos()]
	}
	if s.Counts == nil {
		s.Counts = p.scene.Rows.BySource()
	}
	s.List.SetHeight(screen.PulseRows(p.scene))
}

// finding returns the finding under the cursor; nil: nothing is wrong.
func (p *pulsePart) finding() *diagnose.Finding {
	p.show() // the findings may be newer than the list
	return p.chosen
}

// goTo shows the rows of the finding under the cursor, and no others, with the cursor on the gravest; of a source
// without any how it is read. It reports whether there are rows.
func (p *pulsePart) goTo(v screen.View) bool {
	f := p.finding()
	if f == nil {
		p.host.Say("nothing is wrong here")
		return false
	}
	if len(f.Rows) == 0 && p.scene.Pulse.Counts[f.Source] == nil {
		p.host.open(screen.Sources)
		return false
	}
	refs := make(map[sources.Ref]bool, len(f.Rows))
	for i := range f.Rows {
		refs[f.Rows[i].Ref] = true
	}
	p.list.focus(f.Title, func(ref sources.Ref) bool { return refs[ref] || len(refs) == 0 && ref.Source == f.Source })
	p.host.switchTo(v)
	if len(f.Rows) > 0 {
		p.list.pickRow(f.Rows[0].Ref)
	}
	return true
}

// timeline shows the Timeline; on Pulse that of the rows of the finding under the cursor.
func (p *pulsePart) timeline() {
	if p.scene.Shown == screen.Pulse && p.finding() != nil {
		p.goTo(screen.Timeline)
		return
	}
	p.host.switchTo(screen.Timeline)
}

// text is the finding under the cursor for use elsewhere; "": nothing is wrong.
func (p *pulsePart) text() string {
	if f := p.finding(); f != nil {
		return strings.TrimSuffix(f.Text(p.scene.Now), "\n")
	}
	return ""
}

// objectiveReader computes how well the objectives are kept, for the Pulse screen.
type objectiveReader struct {
	part
	past    *pastReader // of the same recording
	list    []objective.Objective
	at      time.Time // of the clock, when it was asked last; zero: not yet
	pace    time.Duration
	running bool
}

// objectivesMsg brings the results.
type objectivesMsg struct {
	results []objective.Result
	now     time.Time
	pace    time.Duration // until the next time
	err     error
}

// read is the command that computes them, when it is time for that; nil: it is not.
func (r *objectiveReader) read() tea.Cmd {
	sc, s := r.scene, &r.scene.Pulse.Objectives
	if len(r.list) == 0 || sc.Shown != screen.Pulse || sc.State == nil || r.running {
		return nil
	}
	past := sc.OnlyPast || sc.Replay != nil // the recording knows it all
	if !past && !sc.Pulse.Whole {           // what is not read yet would fit nothing
		return nil
	}
	if !r.at.IsZero() && sc.Clock.Sub(r.at).Abs() < r.pace && sc.Now.Sub(s.At).Abs() < r.pace {
		return nil
	}
	r.running, r.at = true, sc.Clock
	ctx, h := r.past.context, r.past.history
	if ctx == nil {
		ctx, h = context.Background(), nil
	}
	in := objective.Input{Objectives: r.list, Now: sc.Now, State: sc.State}
	if past {
		in.State = nil
	}
	return func() tea.Msg {
		results, pace, err := objective.Judge(ctx, h, in)
		return objectivesMsg{results, in.Now, pace, err}
	}
}

// have takes the results and reports whether the frame changes.
func (r *objectiveReader) have(msg objectivesMsg) bool {
	r.running, r.pace = false, msg.pace
	r.scene.Pulse.Objectives = screen.Objectives{Results: msg.results, At: msg.now}
	if msg.err != nil {
		r.scene.Pulse.Objectives.Error = paint.Clean(msg.err.Error())
	}
	return r.scene.Shown == screen.Pulse
}
