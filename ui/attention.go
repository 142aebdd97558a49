package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// Muter keeps what a person muted. All methods wait for a disk.
type Muter interface {
	List() ([]mute.Mute, error) // those that have not ended, also of other boards
	Add(ctx context.Context, m mute.Mute) error
	End(ctx context.Context, m mute.Mute) error
	Pin(fresh map[string][]mute.Pin) error // see mute.Decision
}

// mutesEvery is the pause between two looks at what other boards muted.
const mutesEvery = 5 * time.Second

// mutes is what the person does not want to be told of.
type mutes struct {
	part
	acting  *dialog.Acting
	keeper  Muter // nil: nothing can be muted
	at      time.Time
	reading bool
	had     bool // the list was read
	list    []mute.Mute
	fresh   map[string][]mute.Pin // not kept yet
	wrong   string                // why the list cannot be read, as it was said
}

// mutesMsg brings what is muted.
type mutesMsg struct {
	list []mute.Mute
	err  error
}

// read returns the command that keeps fresh pins and reads what is muted, when it is time for that.
func (k *mutes) read() tea.Cmd {
	if k.keeper == nil || k.reading || !k.at.IsZero() && k.scene.Clock.Sub(k.at).Abs() < mutesEvery {
		return nil
	}
	k.reading, k.at = true, k.scene.Clock
	keeper, fresh := k.keeper, k.fresh
	k.fresh = nil
	return func() tea.Msg {
		var wrong error
		if len(fresh) > 0 {
			wrong = keeper.Pin(fresh)
		}
		list, err := keeper.List()
		return mutesMsg{list, errors.Join(wrong, err)}
	}
}

// have takes what was read, and reports whether it is new.
func (k *mutes) have(msg mutesMsg) bool {
	k.reading, k.had = false, true
	if msg.err != nil {
		text := paint.Clean(msg.err.Error())
		said := k.wrong == text
		if k.wrong = text; !said {
			k.host.SayFor(longMessage, text)
		}
		return !said
	}
	k.wrong = ""
	if slices.EqualFunc(msg.list, k.list, func(a, b mute.Mute) bool { return a.ID == b.ID && len(a.Pins) == len(b.Pins) }) {
		return false
	}
	k.set(msg.list)
	return true
}

// known reports whether it is known what is muted.
func (k *mutes) known() bool { return k.keeper == nil || k.had }

func (k *mutes) set(list []mute.Mute) {
	k.list = list
	k.host.diagnose()
	k.acting.Receive() // an open list of mutes
}

// decide finds out what of the findings is muted at the time that is shown.
func (k *mutes) decide(in *diagnose.Input, findings []diagnose.Finding) (live []mute.Mute, d mute.Decision) {
	for _, m := range k.list {
		if m.Live(in.Now) {
			live = append(live, m)
		}
	}
	d = k.decision(live, in.Rows, findings)
	if len(d.Fresh) > 0 && !k.feeds.replaying() {
		k.list = mute.Pinned(k.list, d.Fresh)
		for id, pins := range d.Fresh {
			if k.fresh == nil {
				k.fresh = map[string][]mute.Pin{}
			}
			k.fresh[id] = append(k.fresh[id], pins...)
		}
	}
	return live, d
}

func (k *mutes) decision(list []mute.Mute, wrong []*sources.Row, findings []diagnose.Finding) mute.Decision {
	sc := k.scene
	return mute.Decide(&mute.Input{Mutes: list, Judge: sc.Rows.Judge(), Rows: wrong, Findings: findings, Now: sc.Now, Matches: rows.Matcher(sc.State, sc.Now)})
}

// able reports whether something can be muted, and says why where it cannot.
func (k *mutes) able() bool {
	if k.keeper == nil {
		k.host.Say("this board keeps nothing: there is no folder for it, or it shows a recording")
	}
	return k.keeper != nil
}

// row acknowledges the problem of the row under the cursor, or ends that; on Pulse all that the finding explains.
func (k *mutes) row() tea.Cmd {
	if at := k.scene.Pulse.List.Pos(); k.scene.Shown == screen.Pulse && at < len(k.scene.Findings) {
		return k.finding(at)
	}
	row, v := k.scene.Selected()
	if !k.able() {
		return nil
	}
	if row == nil || !v.Problem() {
		k.host.Say("there is no problem to acknowledge here; " + k.scene.Keys.KeyOf(keys.Problems) + " shows only problems")
		return nil
	}
	if m := k.scene.MutedBy(row); m != nil {
		return k.again(m)
	}
	p, _ := mute.RowPin(k.scene.Rows.Judge(), row, k.scene.Now)
	if f, r := k.scene.Because(row.Ref); f != nil {
		p = mute.PinOf(f, r)
	}
	return k.know(k.scene.Rows.Shown(row.Ref), []mute.Pin{p})
}

// finding acknowledges all that a finding explains, or ends that. at is its place in Attention.Findings.
func (k *mutes) finding(at int) tea.Cmd {
	if !k.able() {
		return nil
	}
	if m := k.scene.Muted.Findings[at]; m != nil {
		return k.again(m)
	}
	f := &k.scene.Findings[at]
	return k.know(f.Title, mute.PinsOf(f))
}

// again ends an acknowledgement; a filter has others behind it, and is ended in the list.
func (k *mutes) again(m *mute.Mute) tea.Cmd {
	if m.Filter != "" {
		k.host.Say("muted by the filter " + paint.Clean(m.Filter) + ": :mutes lists it, and ends it")
		return nil
	}
	return k.end(*m)
}

// know asks for a word and an end, and keeps the acknowledgement.
func (k *mutes) know(what string, pins []mute.Pin) tea.Cmd {
	m := k.mute()
	m.What, m.Pins = what, pins
	dialog.Know(k.acting, what, func(word string, d time.Duration) tea.Cmd {
		m.Text, m.Until = word, k.feeds.clock().Add(d).UTC()
		return k.write(func(ctx context.Context) error { return k.keeper.Add(ctx, m) },
			"known for at most "+format.Age(d)+": "+k.scene.Keys.KeyOf(keys.Know)+" again ends it, :mutes lists it")
	})
	return nil
}

// mute returns a Mute about what is shown now, which is earlier than the clock while the picture is held.
func (k *mutes) mute() mute.Mute {
	return mute.Mute{At: k.scene.Now.UTC(), Servers: mute.ServersOf(k.scene.State)}
}

// by mutes the problems of what a filter selects, for the length behind it.
func (k *mutes) by(text string) tea.Cmd {
	if !k.able() {
		return nil
	}
	expr, length := text, mute.MutedFor
	at := strings.LastIndexByte(text, ' ')
	if d, ok := format.ParseLength(text[at+1:]); ok {
		expr, length = strings.TrimSpace(text[:max(at, 0)]), d
	}
	f := k.scene.Rows.Filter
	f.Parse(expr, k.scene.Rows.Labels)
	switch {
	case f.Mistake != nil:
		k.host.Say(paint.Clean(f.Mistake.Text))
		return nil
	case expr == "" || f.Expr.Empty():
		k.host.Say("mute what? a filter, then for how long: :mute source=leases 2h")
		return nil
	case length == 0 || length > mute.Longest:
		k.host.Say("for how long? " + format.LengthForms + ", at most " + format.Age(mute.Longest))
		return nil
	}
	m := k.mute()
	m.Filter, m.Until = expr, k.feeds.clock().Add(length).UTC()
	problems := k.decision([]mute.Mute{m}, k.scene.Rows.ProblemRowList(), k.scene.Findings).Fresh[m.ID]
	selected := k.selected(expr)
	if selected == 0 && len(problems) == 0 {
		k.host.Say("the filter selects nothing: nothing is muted")
		return nil
	}
	m.Pins = problems
	return k.write(func(ctx context.Context) error { return k.keeper.Add(ctx, m) },
		"muted for "+format.Age(length)+": "+paint.Count(selected, "row")+", "+paint.Count(len(problems), "problem")+" now; :mutes lists and ends it")
}

// selected counts the rows that a filter selects.
func (k *mutes) selected(expr string) (n int) {
	matches := rows.Matcher(k.scene.State, k.scene.Now)
	for _, row := range k.scene.State.Rows {
		if row != nil {
			if _, v := k.scene.Rows.At(rows.HandleOf(row)); matches(expr, row, v) {
				n++
			}
		}
	}
	return n
}

// end ends a Mute.
func (k *mutes) end(m mute.Mute) tea.Cmd {
	if !k.able() {
		return nil
	}
	return k.write(func(ctx context.Context) error { return k.keeper.End(ctx, m) }, "not muted any more: "+paint.Clean(m.Subject()))
}

// write calls f, which changes what is kept, and says done, or why it was not.
func (k *mutes) write(f func(context.Context) error, done string) tea.Cmd {
	var list []mute.Mute
	return k.acting.Await(func(ctx context.Context) (err error) {
		if err = f(ctx); err == nil {
			list, err = k.keeper.List()
		}
		return err
	}, func(err error) {
		if err != nil {
			k.host.SayFor(longMessage, "nothing is changed: "+paint.Clean(err.Error()))
			return
		}
		k.set(list)
		k.host.Say(done)
	})
}

// beginning explains the problems that are known as long as the first screen depends on them.
func (m *model) beginning() {
	if !m.pulse.decided {
		m.diagnose()
		m.pulse.note()
	}
}

// diagnose explains the problems that are known now. It runs once a second, and takes as long as there are
// problems, not rows.
func (m *model) diagnose() {
	in := diagnose.Input{
		Judge: m.Rows.Judge(), Rows: m.Rows.ProblemRowList(), Now: m.Now, Began: m.Started, Runbooks: m.options.Runbooks,
		Name: m.Rows.Shown, Owned: m.Rows.OwnedBy,
	}
	for i := range m.Events.List {
		if e := &m.Events.List[i]; e.Kind == sources.EventAction {
			in.Acts = append(in.Acts, *e)
		}
	}
	findings := diagnose.Find(&in)
	live, muted := m.mutes.decide(&in, findings)
	unmuted := muted.Last(findings)
	m.Attention = screen.Attention{Findings: findings, Unmuted: unmuted, Causes: map[sources.Ref]screen.Cause{}, Mutes: live, Muted: muted}
	if len(live)+m.Rows.Muted > 0 && m.Rows.Mute(func(ref sources.Ref) bool { return muted.Rows[ref] != nil }) {
		m.Locks.SetKeys(m.Rows.Handles)
	}
	for i := range m.Findings {
		for j := range m.Findings[i].Rows {
			m.Causes[m.Findings[i].Rows[j].Ref] = screen.Cause{Finding: i, Row: j}
		}
	}
}

// mutesHandlers are those of mutes.
func mutesHandlers() map[keys.Intent]handler {
	return map[keys.Intent]handler{
		keys.Know: asking(func(m *model) tea.Cmd { return m.mutes.row() }),
		keys.MuteBy: {
			do:        func(m *model, text string) tea.Cmd { return m.mutes.by(text) },
			arguments: func(m *model, typed string) filter.Completion { return m.rowList.completeFilter(typed) },
		},
		keys.Mutes: simply(func(m *model) { dialog.ShowMutes(&m.acting, m.mutes.end) }),
	}
}
