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

// box is the dialog in which a person decides on one action. It shows the row as it is now. It is
// pinned to the part of the row that the verb depends on (action.Pin): when that changes, nothing
// can be sent any more until the person decides again. The box of a claim that queues follows its row.
type box struct {
	request action.Request
	row     *sources.Row // as it is now; nil: it is not listed
	lease   string       // our owner ID, if the action is on our own lease; "": none yet
	gone    bool         // the pinned part has changed since the person decided
	changed string       // the present difference; "": none, perhaps again
	not     string       // why the action is not possible now; "": it is, as far as is known
	off     bool         // writing has ended
	refused string       // why the operator refused to start
	writing bool         // the operator has not answered whether it started

	asked     int  // how often the operator was asked to describe the action
	asking    bool // it has not answered the last question
	outdated  bool // the row has changed since the last question
	described bool // it has answered once
	pending   bool // the description is not of the last choice
	effect    action.Effect
	err       error // of describing

	fields []*field
	typed  []*field // of the previous box, if the person decides again
	focus  int      // an index of fields, or one of the buttons after them
	hint   string   // about typed text that no field received; "": none
	top    int      // the first visible line above the fields
}

// The buttons, counted from the end of the fields.
const (
	buttonCancel = iota
	buttonAct
	buttons
)

// OpenBox opens the box of a request and asks the operator to describe it.
func (a *Acting) OpenBox(r action.Request) tea.Cmd {
	if r.Verb == action.Acquire || r.Verb == action.Campaign {
		r.Wait = action.BoardWait
	}
	b := &box{request: r, row: a.live(r.Target.Ref)}
	a.show(b)
	b.update(a)
	return b.ask(a, r)
}

// answered receives a description from the operator. If the row has changed since the question, it asks
// again; asking at each change of a busy row would never end.
func (b *box) answered(a *Acting, asked int, effect action.Effect, err error) {
	if asked != b.asked {
		return // the answer to an earlier question
	}
	b.asking = false
	b.describe(a, effect, err)
	if b.outdated && a.dialog == b {
		a.later(b.ask(a, b.filled()))
	}
}

// describe shows a description, and adds the fields that it asks for.
func (b *box) describe(a *Acting, effect action.Effect, err error) {
	b.described, b.pending, b.effect, b.err = true, false, effect, err
	if err != nil || b.question() || len(b.fields) > 0 {
		return
	}
	add := func(wanted bool, kind fieldKind, empty string) {
		if wanted {
			b.fields = append(b.fields, newField(kind, empty))
		}
	}
	verb, kind, reason := b.request.Verb, b.request.Target.Kind, "optional"
	if effect.NeedsReason {
		reason = "needed: it goes to the audit"
	}
	add(effect.TakesMode, fieldMode, "")
	add(effect.TakesLimit, fieldLimit, "1")
	if add(effect.TakesData, fieldData, "nothing"); effect.TakesData {
		b.fillData(a, b.fields[len(b.fields)-1])
	}
	add(kind == sources.KindSemaphore && (verb == action.Acquire || verb == action.Try), fieldPermits, "1")
	add(verb == action.Acquire || verb == action.Campaign, fieldWait, "5m; or 30s, 1h ..., or forever")
	add(true, fieldReason, reason)
	add(effect.NeedsName != "", fieldName, "")
	b.focus = len(b.fields) + buttonCancel
	if b.retype() {
		b.pending = true
		a.later(b.ask(a, b.filled()))
	}
}

// question reports whether the action needs a yes only: it gives up what is ours.
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
	if b.writing { // too late to cancel
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
		b.top += 5 // drawing bounds it
	case keys.Press:
		return b.press(a)
	}
	return nil
}

func (a *Acting) cancelBox() {
	a.close()
	a.host.Say("nothing was sent")
}

// press handles enter: on a field it goes to the next one, on Cancel it cancels, and only on the
// button with the verb it acts.
func (b *box) press(a *Acting) tea.Cmd {
	switch b.focus - len(b.fields) {
	case buttonCancel:
		a.cancelBox()
	case buttonAct:
		return b.start(a)
	default:
		f := b.fields[b.focus]
		if f.kind != fieldData {
			return b.move(a, 1)
		}
		f.edit(tea.KeyPressMsg{Code: tea.KeyEnter})
	}
	return nil
}

// move goes to the next field or button, and skips the button with the verb while it is off. The text
// of the field before may be part of the request, so the operator is asked again.
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

// ask asks the operator to describe a request. The answer comes as a message.
func (b *box) ask(a *Acting, r action.Request) tea.Cmd {
	b.asked++
	b.asking, b.outdated = true, false
	asked, effect := b.asked, action.Effect{}
	return a.await(a.Describer, func(ctx context.Context) (err error) {
		effect, err = a.op.Describe(ctx, r)
		return err
	}, func(err error) { b.answered(a, asked, effect, err) })
}

// missing returns why the button with the verb is off; "": it is on.
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

// needs returns what is still missing in a required field; "": nothing.
func (b *box) needs(f *field) string {
	switch v := f.value(); {
	case f.kind == fieldReason && v == "" && b.effect.NeedsReason:
		return "needs a reason"
	case f.kind == fieldName && !b.request.Target.GoesBy(v, b.effect.NeedsName):
		return "needs the name"
	}
	return ""
}

// writingAudit is shown until the operator has started an action.
const writingAudit = "writing the audit"

// start passes the request to the operator. If the operator refuses it the box stays, with
// everything that was typed.
func (b *box) start(a *Acting) tea.Cmd {
	b.update(a)
	if b.missing() != "" {
		return nil
	}
	r := b.filled()
	b.writing, b.refused = true, ""
	return a.Await(func(context.Context) error { _, err := a.op.Start(r); return err }, func(err error) {
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

// filled returns the request with the typed values.
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
			if v != "" {
				r.Wait, _ = format.ParseLength(v) // as above; waitForever: 0, which is without an end
			}
		case fieldReason:
			r.Reason = v
		case fieldName:
			r.Typed = v
		}
	}
	return r
}

// fillData fills in the present data, if all of it is known.
func (b *box) fillData(a *Acting, f *field) {
	h := a.holdingOf(b.request.Target.Ref)
	switch verb := b.request.Verb; {
	case verb == action.Proclaim && h != nil:
		f.fill(string(h.Data))
	case verb != action.Update || b.row == nil:
	case b.row.Data.Len > len(b.row.Data.Head):
		bytes := paint.Count(b.row.Data.Len, "byte")
		f.note = "it has " + bytes + " now, too many to be edited here: all of them are replaced"
	case b.row.Data.Masked():
		f.note = "it holds a secret, which is not shown: all of it is replaced"
	default:
		f.fill(b.row.Data.Head)
	}
}
