package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// The widths of the time and of the name in an event's line.
const (
	eventTime     = 11
	minEventName  = 10
	eventNamePart = 3 // the name takes at most this fraction of the line
	maxEventName  = 48
)

// nameWidth returns the width for the names of events in lines of w cells.
func nameWidth(sc *Scene, events []*sources.Event, w int) int {
	longest := minEventName
	for _, e := range events {
		longest = max(longest, format.Width(eventName(sc, e)))
	}
	return min(longest, max(w/eventNamePart, minEventName), maxEventName)
}

// eventName returns the name of an event's row, or of its source and scope.
func eventName(sc *Scene, e *sources.Event) string {
	if e.Ref.Name != "" {
		return aliased(sc, e.Ref, e.Alias)
	}
	name := paint.Clean(e.Ref.Source)
	if e.Scope != "" {
		name += " " + paint.Clean(e.Scope)
	}
	return name
}

// aliased returns the name of a primitive; if that is a number, behind its alias.
func aliased(sc *Scene, ref sources.Ref, alias string) string {
	if alias == "" || !paint.Numeric(ref.Name) {
		return NameOf(sc, ref)
	}
	return paint.Clean(alias) + " " + NameOf(sc, ref)
}

// drawEvent writes an event into the rest of a line: its name in names cells (0: without it), its
// sentence, more, and the length of the stretch in which it happened. That length is never cut: the
// sentence is shortened instead.
func drawEvent(sc *Scene, l *paint.Line, e *sources.Event, names int, more ...paint.Part) {
	l.Cell(sc.Theme.Dim, eventInstant(sc, e), eventTime).Skip(1)
	if names > 0 {
		l.Cell("", sc.Theme.FitName(eventName(sc, e), names), names).Skip(1)
	}
	tail, end := "", l.Width
	if d := paint.Spread(e); d > 0 {
		tail = "within " + format.Precise(d)
		end -= len(tail) + 1
	}
	l.Fit(append(EventText(sc, e), more...), end).Skip(1).Put(sc.Theme.Dim, tail)
}

// eventInstant returns the latest possible time of an event, with a sign if it was only seen between
// two looks.
func eventInstant(sc *Scene, e *sources.Event) string {
	return instantCell(sc, e.At, paint.When(paint.Spread(e) > 0, sc.Theme.About))
}

// instantCell writes an instant in eventTime cells: a time of today to a tenth of a second, another one
// with its date. A date with a day of two digits has no room for the sign.
func instantCell(sc *Scene, at time.Time, sign string) string {
	at = at.In(sc.Now.Location())
	text := at.Format("15:04:05.0")
	if at.YearDay() != sc.Now.YearDay() && sc.Now.Sub(at) > 12*time.Hour {
		text = at.Format("2Jan 15:04")
	}
	if len(text) < eventTime {
		text = sign + text
	}
	return fmt.Sprintf("%*s", eventTime, text)
}

// EventText returns the sentence of an event.
func EventText(sc *Scene, e *sources.Event) []paint.Part {
	th := &sc.Theme
	switch e.Kind {
	case sources.EventAcquired:
		parts := append(whoParts(sc, e, e.Owner), takenPart(sc, e))
		if e.Gap != (sources.Interval{}) {
			parts = append(parts, th.Dim.Text(", gap "+e.Gap.Text()))
		}
		return parts
	case sources.EventOwnerChanged:
		return changedParts(sc, e)
	case sources.EventReleased:
		parts := append(whoParts(sc, e, e.Previous), goneParts(sc, e)...)
		if e.LeaseLeft > 0 {
			parts = append(parts, th.Dim.Text(", "+format.Precise(e.LeaseLeft)+" left"))
		}
		return parts
	case sources.EventExpired:
		return append(whoParts(sc, e, e.Previous), lossStyle(sc, e).Text("lost it"), paint.Plain(": "+sc.Theme.Cause(e.Cause, e.How)))
	case sources.EventProclaimed:
		return append(whoParts(sc, e, e.Owner), th.Dim.Text("says"), paint.Plain(" "+said(e.Detail)))
	case sources.EventWaiterJoined:
		return append(whoParts(sc, e, e.Owner), paint.Plain("waits"))
	case sources.EventWaiterLeft:
		return append(whoParts(sc, e, e.Owner), paint.Plain("waits no more"))
	case sources.EventLeaseChanged:
		return append(whoParts(sc, e, e.Owner), th.Warn.Text("its lease changed"), detailPart(th, e))
	case sources.EventCountChanged:
		return []paint.Part{paint.Plain(e.Now.Text()), {Style: th.Dim, Text: ", before " + e.Was.Text(), Yield: paint.Aside}}
	case sources.EventOwnerUnknown:
		return ownerUnknownParts(sc, e)
	case sources.EventSourceDown:
		if e.After.IsZero() { // it never answered, or is down already for another reason
			return []paint.Part{th.Bad.Text("not connected"), detailPart(th, e)}
		}
		return []paint.Part{th.Bad.Text("data is old from here"), detailPart(th, e)}
	case sources.EventSourceUp:
		return []paint.Part{paint.Plain("answers"), detailPart(th, e)}
	case sources.EventRestarted:
		return []paint.Part{th.Warn.Text(cmp.Or(paint.Clean(e.Detail), "the server was restarted"))}
	case sources.EventClockStep:
		return []paint.Part{th.Warn.Text("clock stepped"), detailPart(th, e)}
	case sources.EventNote:
		return []paint.Part{th.Accent.Text("note"), paint.Plain("  " + paint.Clean(e.Detail))}
	case sources.EventCreated:
		return []paint.Part{paint.Plain("appeared"), detailPart(th, e)}
	case sources.EventDeleted:
		return []paint.Part{paint.Plain("does not exist any more"), detailPart(th, e)}
	}
	return []paint.Part{paint.Plain(e.Kind.String()), detailPart(th, e)}
}

// ownerUnknownParts returns the sentence of a row whose owner is not told any more.
func ownerUnknownParts(sc *Scene, e *sources.Event) []paint.Part {
	parts := []paint.Part{sc.Theme.Warn.Text("its owner cannot be told any more")}
	switch {
	case e.Last != (sources.OwnerRef{}):
		parts = append(append(parts, paint.Plain(", until then")), whoParts(sc, e, e.Last)...)
	case e.LastSeen != (sources.OwnerRef{}):
		parts = append(append(parts, paint.Plain(", last seen")), whoParts(sc, e, e.LastSeen)...)
	}
	return append(parts, detailPart(&sc.Theme, e))
}

// lossStyle returns the style of a loss: Bad for rows that should always be owned. A lock that a worker
// lost is available to the next one.
func lossStyle(sc *Scene, e *sources.Event) paint.Style {
	row, _ := sc.Rows.Filter.Find(e.Ref)
	if e.RefKind == sources.KindElection || row != nil && row.Expected {
		return sc.Theme.Bad
	}
	return sc.Theme.Warn
}

// takenPart reports that an owner acquired it. A normal hand-over is grey; one after a loss that nobody
// reported, or one that begins a conflict, is not.
func takenPart(sc *Scene, e *sources.Event) paint.Part {
	switch {
	case e.Detail != "":
		return sc.Theme.Bad.Text("acquired it " + paint.Clean(e.Detail))
	case e.Loss:
		return lossStyle(sc, e).Text("acquired it after a loss")
	}
	return sc.Theme.Dim.Text("acquired it")
}

// changedParts reports that an owner acquired it from another, or that the other lost it.
func changedParts(sc *Scene, e *sources.Event) []paint.Part {
	after, before, cause := whoParts(sc, e, e.Owner), whoParts(sc, e, e.Previous), sc.Theme.Cause(e.Cause, e.How)
	if e.Loss {
		parts := slices.Concat(before, []paint.Part{lossStyle(sc, e).Text("lost it"), sc.Theme.Dim.Text(" to ")}, after[:len(after)-1])
		return append(parts, paint.Part{Text: ": " + cause, Yield: paint.Aside})
	}
	parts := slices.Concat(after, []paint.Part{sc.Theme.Dim.Text("acquired from ")}, before[:len(before)-1])
	if e.Cause != sources.CauseUnknown {
		parts = append(parts, paint.Part{Style: sc.Theme.Dim, Text: " (" + cause + ")", Yield: paint.Aside})
	}
	return parts
}

// goneParts describes the end of an ownership before its lease was over: a loss, or a release, which is
// normal.
func goneParts(sc *Scene, e *sources.Event) []paint.Part {
	cause := sc.Theme.Cause(e.Cause, e.How)
	switch {
	case e.Loss:
		return []paint.Part{lossStyle(sc, e).Text("lost it"), paint.Plain(": " + cause)}
	case e.Cause == sources.CauseReleased:
		return []paint.Part{sc.Theme.Dim.Text(cause + " it")}
	case e.Cause == sources.CauseUnknown:
		return []paint.Part{sc.Theme.Dim.Text("is gone, not told why")}
	case e.Cause == sources.CauseSession:
		return []paint.Part{sc.Theme.Dim.Text(cause)}
	}
	return []paint.Part{sc.Theme.Warn.Text(cause)}
}

// said returns the data of an event, which is a quoted text. If its only escapes are quotes, as in JSON,
// it returns the text without the outer quotes and the backslashes.
func said(detail string) string {
	quoted, err := strconv.QuotedPrefix(detail)
	if err != nil {
		return paint.Clean(detail)
	}
	text := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if !strings.Contains(text, `"`) || strings.Contains(text, `\`) {
		return paint.Clean(detail)
	}
	return paint.Clean(text + detail[len(quoted):])
}

// whoParts returns the name of an owner with its letter in the row.
func whoParts(sc *Scene, e *sources.Event, o sources.OwnerRef) []paint.Part {
	label, blank := paint.Part{Text: paint.CleanLabel(o.Label), Yield: paint.Name}, paint.Plain(" ")
	switch {
	case o.Label == "" && o.ID == "": // the sentence is about the row
		label.Text, blank.Text = "", ""
	case o.Label == "":
		label.Text = paint.Clean(o.ID)
	}
	if row, _ := sc.Rows.Filter.Find(e.Ref); row != nil {
		if hue, ok := termHue(row, o.ID); ok {
			return []paint.Part{sc.Theme.OwnerLetter(hue).Text(paint.Letter(hue)), paint.Plain(" "), label, blank}
		}
	}
	return []paint.Part{paint.Plain("  "), label, blank}
}

// termHue returns the hue of an owner in its row's terms.
func termHue(row *sources.Row, owner string) (uint8, bool) {
	for i := len(row.Terms) - 1; i >= 0; i-- {
		if row.Terms[i].Owner.ID == owner {
			return row.Terms[i].Hue, true
		}
	}
	return 0, false
}

func detailPart(th *paint.Theme, e *sources.Event) paint.Part {
	return th.Dim.Text(paint.When(e.Detail != "", "  "+paint.Clean(e.Detail)))
}
