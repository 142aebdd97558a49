package dialog

import (
	"context"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// box is where a person decides on one action. It shows the row as it is now. It is pinned to
// the part of the row that the verb depends on (action.Pin): when that changes, nothing
// can be sent any more until the person decides anew. A claim that queues follows its row.
type box struct {
	request action.Request
	row     *sources.Row // as it is now; nil: it is not listed
	lease   string       // the owner that we are, of an action on what is ours; "": none yet
	gone    bool         // what it is pinned to has changed since the person decided
	changed string       // what is different now; "": nothing, perhaps again
	not     string       // why it is not possible now; "": it is, as far as is known
	off     bool         // writing has ended
	refused string       // why it was not begun, at the last press of the button
	writing bool         // the operator was told to begin, and has not answered

	asked     int  // how often the operator was asked what it would do
	asking    bool // it has not answered the last time
	outdated  bool // the row has changed since it was asked
	described bool // it has answered once
	pending   bool // what is shown is not what was chosen last
	effect    action.Effect
	err       error // of describing

	fields []*field
	typed  []*field // of the box before, which was decided anew
	focus  int      // an index of fields, or one of the buttons after them
	hint   string   // where what was typed last did not go; "": nowhere to be said
	top    int      // first line shown of what stands above the fields
}

// The buttons, counted from the end of the fields.
const (
	buttonCancel = iota
	buttonAct
	buttons
)

// OpenBox puts the box of a request over the board and asks what it would do.
func (a *Acting) OpenBox(r action.Request) tea.Cmd {
	if r.Verb == action.Acquire || r.Verb == action.Campaign {
		r.Wait = action.BoardWait
	}
	b := &box{request: r, row: a.live(r.Target.Ref)}
	a.show(b)
	b.look(a)
	return b.ask(a, r)
}

// answered receives what the operator said. One who asks about every change of a busy row
// would never be answered: it is asked again when it has answered.
func (b *box) answered(a *Acting, asked int, effect action.Effect, err error) {
	if asked != b.asked {
		return // it answers what is not asked any more
	}
	b.asking = false
	b.describe(a, effect, err)
	if b.outdated && a.dialog == b {
		a.later(b.ask(a, b.filled()))
	}
}

// describe takes in what the action would do; then it is known what the person must give.
func (b *box) describe(a *Acting, effect action.Effect, err error) {
	b.described, b.pending, b.effect, b.err = true, false, effect, err
	if err != nil || b.question() || len(b.fields) > 0 {
		return
	}
	add := func(kind fieldKind) *field {
		b.fields = append(b.fields, newField(kind))
		return b.fields[len(b.fields)-1]
	}
	verb := b.request.Verb
	if b.effect.TakesMode {
		add(fieldMode)
	}
	if b.effect.TakesLimit {
		add(fieldLimit).empty = "1"
	}
	if b.effect.TakesData {
		f := add(fieldData)
		f.empty = "nothing"
		b.fillData(a, f)
	}
	if b.request.Target.Kind == sources.KindSemaphore && (verb == action.Acquire || verb == action.Try) {
		add(fieldPermits).empty = "1"
	}
	if verb == action.Acquire || verb == action.Campaign {
		add(fieldWait).empty = "5m; or 30s, 1h ..., or forever"
	}
	if add(fieldReason).empty = "optional"; b.effect.NeedsReason {
		b.fields[len(b.fields)-1].empty = "needed: it goes to the audit"
	}
	if b.effect.NeedsName != "" {
		add(fieldName)
	}
	b.focus = len(b.fields) + buttonCancel
	if b.retype() {
		b.pending = true
		a.later(b.ask(a, b.filled()))
	}
}

// question reports whether the action needs no more than a yes: giving up what is ours.
func (b *box) question() bool {
	e := &b.effect
	return b.described && b.err == nil && b.request.Verb == action.Resign && !e.NeedsReason && e.NeedsName == "" && !e.TakesData
}

func (b *box) keyContext() keys.Context {
	switch {
	case b.gone && !b.writing:
		return keys.InChanged
	case b.question():
		return keys.InQuestion
	}
	return keys.InBox
}

func (b *box) do(a *Acting, i keys.Intent) tea.Cmd {
	if b.writing { // it cannot be taken back any more
		return nil
	}
	b.hint = ""
	switch i {
	case keys.Cancel, keys.No:
		a.cancelBox()
	case keys.Yes:
		return b.start(a)
	case keys.Anew:
		return b.anew(a)
	case keys.NextField:
		return b.move(a, 1)
	case keys.PreviousField:
		return b.move(a, -1)
	case keys.PageUp, keys.HalfUp:
		b.top = max(b.top-5, 0)
	case keys.PageDown, keys.HalfDown:
		b.top += 5 // drawing brings it back
	case keys.Press:
		return b.press(a)
	}
	return nil
}

func (a *Acting) cancelBox() {
	a.close()
	a.host.Say("nothing was sent")
}

// press acts on enter: on a field it goes on to the next one, on Cancel it cancels, and
// only on the button with the verb it acts.
func (b *box) press(a *Acting) tea.Cmd {
	switch b.focus - len(b.fields) {
	case buttonCancel:
		a.cancelBox()
	case buttonAct:
		return b.start(a)
	default:
		if f := b.fields[b.focus]; f.kind == fieldData {
			f.edit(tea.KeyPressMsg{Code: tea.KeyEnter})
			return nil
		}
		return b.move(a, 1)
	}
	return nil
}

// move goes to the next field or button; the button with the verb is passed over as long
// as it is off. The text of the field that is left may be part of what is sent, so
// the operator is asked again.
func (b *box) move(a *Acting, by int) tea.Cmd {
	left := b.focus
	n := len(b.fields) + buttons
	b.focus = (b.focus + by + n) % n
	if b.focus == len(b.fields)+buttonAct && b.missing() != "" {
		b.focus = (b.focus + by + n) % n
	}
	b.point(b.focus)
	if left < len(b.fields) && b.missing() == "" {
		return b.ask(a, b.filled())
	}
	return nil
}

// point puts the focus on a field or a button.
func (b *box) point(at int) {
	b.focus = at
	for i, f := range b.fields {
		f.focus(i == at)
	}
}

// ask asks what a request would do. The answer comes as a message.
func (b *box) ask(a *Acting, r action.Request) tea.Cmd {
	b.asked++
	b.asking, b.outdated = true, false
	asked, effect := b.asked, action.Effect{}
	return a.await(a.Describer, func(ctx context.Context) (err error) {
		effect, err = a.op.Describe(ctx, r)
		return err
	}, func(err error) { b.answered(a, asked, effect, err) })
}

// missing says what keeps the button off; "": nothing.
func (b *box) missing() string {
	switch {
	case b.writing:
		return writingAudit
	case b.gone || b.changed != "":
		return "changed"
	case b.off:
		return writingOff
	case b.not != "":
		return "not possible now"
	case !b.described:
		return "asking the server"
	case b.pending:
		return "asking anew"
	case b.err != nil:
		return "not known what it would do"
	}
	for _, f := range b.fields {
		v := f.value()
		switch {
		case f.wrong() != "":
			return f.wrong()
		case b.needs(f) != "":
			return b.needs(f)
		case f.kind == fieldData && b.effect.DataMax > 0 && len(v) > b.effect.DataMax:
			return "data: " + format.Count(len(v)) + " of at most " + paint.Count(b.effect.DataMax, "byte")
		}
	}
	return ""
}

// needs says what the box cannot do without and has not got from a field; "": nothing.
func (b *box) needs(f *field) string {
	switch v := f.value(); {
	case f.kind == fieldReason && v == "" && b.effect.NeedsReason:
		return "needs a reason"
	case f.kind == fieldName && !b.request.Target.GoesBy(v, b.effect.NeedsName):
		return "needs the name"
	}
	return ""
}

// writingAudit is what a box waits for before anything is sent.
const writingAudit = "writing the audit"

// start hands the request to the operator. Where that refuses it the box stays, with all
// that was typed.
func (b *box) start(a *Acting) tea.Cmd {
	b.update(a)
	if b.missing() != "" {
		return nil
	}
	r := b.filled()
	b.writing, b.refused = true, ""
	return a.Await(func() error { _, err := a.op.Start(r); return err }, func(err error) {
		b.writing = false
		if err != nil {
			b.refused = paint.Clean(err.Error())
			return
		}
		if a.dialog == b {
			a.close()
		}
		a.Receive()
	})
}

// filled is the request with what the person has typed.
func (b *box) filled() action.Request {
	r := b.request
	for _, f := range b.fields {
		v := f.value()
		switch f.kind {
		case fieldMode:
			if f.shared {
				r.Mode = sources.Shared
			}
		case fieldData:
			r.Data = []byte(v)
		case fieldPermits:
			r.Permits, _ = strconv.ParseUint(v, 10, 64) // missing has looked; "": 0, which is 1
		case fieldLimit:
			r.Limit, _ = strconv.ParseUint(v, 10, 64) // as above
		case fieldWait:
			switch v {
			case "":
			case waitForever:
				r.Wait = 0
			default:
				r.Wait, _ = format.ParseLength(v) // as above
			}
		case fieldReason:
			r.Reason = v
		case fieldName:
			r.Typed = v
		}
	}
	return r
}

// fillData puts in what the data is now, where that is all on the screen.
func (b *box) fillData(a *Acting, f *field) {
	switch b.request.Verb {
	case action.Proclaim:
		if h := a.holdingOf(b.request.Target.Ref); h != nil {
			f.fill(string(h.Data))
		}
	case action.Update:
		if b.row == nil {
			return
		}
		if b.row.Data.Len > len(b.row.Data.Head) {
			f.note = "it has " + paint.Count(b.row.Data.Len, "byte") + " now, too many to be edited here: all of them are replaced"
			return
		}
		if b.row.Data.Masked() {
			f.note = "it holds a secret, which is not shown: all of it is replaced"
			return
		}
		f.fill(b.row.Data.Head)
	}
}
