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
	Pin(copies []mute.Mute) error // see mute.Pinned
}

// mutesEvery is the pause between two looks at what other boards muted.
const mutesEvery = 5 * time.Second

// attention keeps the findings, and the mutes that hide some of them.
type attention struct {
	part
	acting   *dialog.Acting
	line     *typedLine
	pulse    *pulsePart
	runbooks map[diagnose.Pattern]string
	url      func(*sources.Row) string
	keeper   Muter // nil: nothing can be muted
	at       time.Time
	reading  bool
	list     []mute.Mute
	fresh    bool   // the list has Pins that are not kept yet
	wrong    string // why the list cannot be read, as it was said
}

// mutesMsg brings what is muted.
type mutesMsg struct {
	list []mute.Mute
	err  error
}

// read returns the command that keeps fresh Pins and reads what is muted, when it is time for that.
func (k *attention) read() tea.Cmd {
	if k.keeper == nil || k.reading || !k.at.IsZero() && k.scene.Clock.Sub(k.at).Abs() < mutesEvery {
		return nil
	}
	keeper, copies, fresh := k.keeper, k.list, k.fresh
	k.reading, k.at, k.fresh = true, k.scene.Clock, false
	return func() tea.Msg {
		var wrong error
		if fresh {
			wrong = keeper.Pin(copies)
		}
		list, err := keeper.List()
		return mutesMsg{list, errors.Join(wrong, err)}
	}
}

// have takes what was read, and reports whether it is new.
func (k *attention) have(msg mutesMsg) bool {
	k.reading = false
	if msg.err != nil {
		said := k.wrong
		if k.wrong = paint.Clean(msg.err.Error()); k.wrong != said {
			k.host.SayFor(longMessage, k.wrong)
		}
		return k.wrong != said
	}
	k.wrong = ""
	if slices.EqualFunc(msg.list, k.list, func(a, b mute.Mute) bool { return a.ID == b.ID && len(a.Pins) == len(b.Pins) }) {
		return false
	}
	k.list = msg.list
	k.diagnose()
	k.acting.Receive() // an open list of mutes
	return true
}

// known reports whether it is known what is muted.
func (k *attention) known() bool { return k.keeper == nil || !k.reading && !k.at.IsZero() }

// diagnose explains the problems that are known now. It runs once a second, and takes as long as there are
// problems, not rows.
func (k *attention) diagnose() {
	sc := k.scene
	in := diagnose.Input{
		Judge: sc.Rows.Judge(), Rows: sc.Rows.ProblemRowList(), Now: sc.Now, Began: sc.Started, Runbooks: k.runbooks, URL: k.url,
		Name: sc.Rows.Shown, Acts: sc.Events.Actions,
	}
	findings := diagnose.Find(&in)
	muted := k.decide(k.list, findings)
	if muted.Fresh && !k.feeds.replaying() {
		k.list, k.fresh = muted.Mutes, true
	}
	sc.Attention = screen.Attention{Findings: findings, Causes: map[sources.Ref]int{}, Muted: muted}
	if sc.Rows.Mute(func(ref sources.Ref) bool { return muted.Rows[ref] != nil }) {
		sc.Locks.SetKeys(sc.Rows.Handles)
	}
	for i := range findings {
		for j := range findings[i].Rows {
			sc.Causes[findings[i].Rows[j].Ref] = i
		}
	}
}

// decide finds out what mutes hold back at the time that is shown.
func (k *attention) decide(list []mute.Mute, findings []diagnose.Finding) mute.Decision {
	sc := k.scene
	return mute.Decide(&mute.Input{
		Mutes: list, Judge: sc.Rows.Judge(), Rows: sc.Rows.ProblemRowList(), Findings: findings, Now: sc.Now,
		Matches: rows.Matcher(sc.State, sc.Now),
	})
}

// able reports whether this board can mute. If it cannot, able shows the reason.
func (k *attention) able() bool {
	if k.keeper == nil {
		k.host.Say("this board keeps nothing: there is no folder for it, or it shows a recording")
	}
	return k.keeper != nil
}

// know has a word and an end typed for an acknowledgement of what is under the cursor. If there is one already, know
// ends that; a filter has others behind it, and is ended in the list.
func (k *attention) know() tea.Cmd {
	m, known := k.underCursor()
	switch {
	case m == nil:
	case known == nil:
		return k.line.begin(keys.InCommand, "know ")
	case known.Filter != "":
		k.host.Say("muted by the filter " + paint.Clean(known.Filter) + ": :mutes lists it, and ends it")
	default:
		return k.end(*known)
	}
	return nil
}

// underCursor returns an acknowledgement of the problem of the row under the cursor, on Pulse of all that the finding
// explains, and the Mute that holds it back already. It says why if there is nothing to acknowledge, and returns nil.
func (k *attention) underCursor() (m, known *mute.Mute) {
	sc := k.scene
	if !k.able() {
		return nil, nil
	}
	if sc.Shown == screen.Pulse && len(sc.Findings) > 0 {
		f := k.pulse.finding()
		sc.Pulse.List.Move(0) // the cursor stays on it while the line is typed
		pins := mute.PinsOf(sc.Rows.Judge(), f, sc.Now)
		return &mute.Mute{What: f.Title, Of: sources.Ref{Source: f.Source}, Pins: pins}, sc.Muted.Findings[sc.Pulse.List.Pos()]
	}
	row, v := sc.Selected()
	if row == nil || !v.Problem() {
		k.host.Say("there is no problem to acknowledge here; " + sc.Keys.KeyOf(keys.Problems) + " shows only problems")
		return nil, nil
	}
	sc.Locks.Move(0)
	f := sc.Because(row.Ref)
	pins := mute.RowPins(sc.Rows.Judge(), row, f, sc.Now)
	return &mute.Mute{What: sc.Rows.Shown(row.Ref), Of: row.Ref, Pins: pins}, sc.Muted.Rows[row.Ref]
}

// knowBy acknowledges what is under the cursor, with a word for others and the length behind it.
func (k *attention) knowBy(text string) tea.Cmd {
	m, known := k.underCursor()
	word, length, ok := k.lengthBehind(text, mute.KnownFor)
	switch {
	case m == nil || !ok:
		return nil
	case known != nil:
		k.host.Say("it is known already: " + k.scene.Keys.KeyOf(keys.Know) + " ends that")
		return nil
	}
	m.Text = word
	return k.add(k.begun(*m, length), paint.Clean(m.What)+" is known for at most "+format.Age(length)+": "+k.scene.Keys.KeyOf(keys.Know)+" again ends it, :mutes lists it")
}

// lengthBehind returns a text and the length behind it, or the usual one if it has none. It says why the length cannot be.
func (k *attention) lengthBehind(text string, usual time.Duration) (before string, length time.Duration, ok bool) {
	before, length = text, usual
	at := strings.LastIndexByte(text, ' ')
	if d, ok := format.ParseLength(text[at+1:]); ok {
		before, length = strings.TrimSpace(text[:max(at, 0)]), d
	}
	if ok = length > 0 && length <= mute.Longest; !ok {
		k.host.Say("for how long? " + format.LengthForms + ", at most " + format.Age(mute.Longest))
	}
	return before, length, ok
}

// begun returns a Mute of that length about what is shown now, which is earlier than the clock while the picture is held.
func (k *attention) begun(m mute.Mute, length time.Duration) mute.Mute {
	m.At, m.Until, m.Servers = k.scene.Now.UTC(), k.feeds.clock().Add(length).UTC(), mute.ServersOf(k.scene.State)
	return m
}

// by mutes the problems of what a filter selects, for the length behind it.
func (k *attention) by(text string) tea.Cmd {
	if !k.able() {
		return nil
	}
	expr, length, ok := k.lengthBehind(text, mute.MutedFor)
	if !ok {
		return nil
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
	}
	m := k.begun(mute.Mute{Filter: expr}, length)
	m = k.decide([]mute.Mute{m}, slices.Clone(k.scene.Findings)).Mutes[0]
	return k.add(m, "muted for "+format.Age(length)+": "+paint.Count(len(m.Pins), "problem")+" now; :mutes lists and ends it")
}

func (k *attention) add(m mute.Mute, done string) tea.Cmd {
	return k.write(func(ctx context.Context) error { return k.keeper.Add(ctx, m) }, done)
}

// end ends a Mute.
func (k *attention) end(m mute.Mute) tea.Cmd {
	return k.write(func(ctx context.Context) error { return k.keeper.End(ctx, m) }, "not muted any more: "+paint.Clean(m.Subject()))
}

// write calls f, which changes what is kept, and says done, or why it was not.
func (k *attention) write(f func(context.Context) error, done string) tea.Cmd {
	return k.acting.Await(f, func(err error) {
		if err != nil {
			k.host.SayFor(longMessage, "nothing is changed: "+paint.Clean(err.Error()))
			return
		}
		k.at = time.Time{} // the list is read at once
		k.host.Say(done)
	})
}

// mutesHandlers are those of what is muted.
func mutesHandlers() map[keys.Intent]handler {
	return map[keys.Intent]handler{
		keys.Know: asking(func(m *model) tea.Cmd { return m.attention.know() }),
		keys.MuteBy: {
			do:        func(m *model, text string) tea.Cmd { return m.attention.by(text) },
			arguments: func(m *model, typed string) filter.Completion { return m.rowList.completeFilter(typed) },
		},
		keys.KnowBy: {
			do:        func(m *model, text string) tea.Cmd { return m.attention.knowBy(text) },
			arguments: oneOf(func(*model) []string { return nil }),
		},
		keys.Mutes: simply(func(m *model) { dialog.ShowMutes(&m.acting, m.attention.end) }),
	}
}
