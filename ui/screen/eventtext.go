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

// The cells of the parts of an event's line: the time, and for the name as many as the
// longest one needs within these bounds.
const (
	eventTime     = 11
	minEventName  = 10
	eventNamePart = 3 // of the width, at most one in so many
	maxEventName  = 48
)

// nameWidth is how many cells the names of events take in lines of w.
func nameWidth(sc *Scene, events []*sources.Event, w int) int {
	longest := minEventName
	for _, e := range events {
		longest = max(longest, format.Width(eventName(sc, e)))
	}
	return min(longest, max(w/eventNamePart, minEventName), maxEventName)
}

// eventName is what an event is about: a row, or a source and its scope.
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

// aliased is what a primitive is called, behind the alias of the number that it is.
func aliased(sc *Scene, ref sources.Ref, alias string) string {
	if alias == "" || !paint.Numeric(ref.Name) {
		return NameOf(sc, ref)
	}
	return paint.Clean(alias) + " " + NameOf(sc, ref)
}

// drawEvent writes an event into what is left of a line, with its name in as many cells,
// or without it where they are 0, and more behind its sentence. The stretch in which it happened stands
// last and is never cut: the sentence yields.
func drawEvent(sc *Scene, l *paint.Line, e *sources.Event, names int, more ...paint.Part) {
	l.Cell(sc.Theme.Dim, eventInstant(sc, e), eventTime).Skip(1)
	if names > 0 {
		l.Cell("", sc.Theme.FitName(eventName(sc, e), names), names).Skip(1)
	}
	tail := ""
	if d := paint.Spread(e); d > 0 {
		tail = "within " + format.Precise(d)
	}
	end := l.Width
	if tail != "" {
		end -= len(tail) + 1
	}
	putParts(l, sc.Theme.FitParts(append(EventText(sc, e), more...), end-l.X), end)
	l.Skip(1).Put(sc.Theme.Dim, tail)
}

// putParts writes parts up to column end, where the last one is cut.
func putParts(l *paint.Line, parts []paint.Part, end int) {
	w := l.Width
	l.Width = end
	l.Parts(parts...)
	l.Width = w
}

// eventInstant is when it happened at the latest, with a sign where we only saw it between
// two looks.
func eventInstant(sc *Scene, e *sources.Event) string {
	if paint.Spread(e) > 0 {
		return instantCell(sc, e.At, sc.Theme.About)
	}
	return instantCell(sc, e.At, "")
}

// instantCell is an instant in eventTime cells: a date of two digits has no room for a sign, which a
// time to the minute does not need.
func instantCell(sc *Scene, at time.Time, sign string) string {
	text := instantText(sc, at)
	if len(text) < eventTime {
		text = sign + text
	}
	return fmt.Sprintf("%*s", eventTime, text)
}

// instantText is a time of today to a tenth of a second, another one with its date.
func instantText(sc *Scene, at time.Time) string {
	at = at.In(sc.Now.Location())
	if at.YearDay() != sc.Now.YearDay() && sc.Now.Sub(at) > 12*time.Hour {
		return at.Format("2Jan 15:04")
	}
	return at.Format("15:04:05.0")
}

// EventText is the sentence of an event.
func EventText(sc *Scene, e *sources.Event) []paint.Part {
	th := &sc.Theme
	switch e.Kind {
	case sources.EventAcquired:
		return append(whoParts(sc, e, e.Owner), takenPart(sc, e), gapPart(th, e))
	case sources.EventOwnerChanged:
		return changedParts(sc, e)
	case sources.EventReleased:
		return append(append(whoParts(sc, e, e.Previous), goneParts(sc, e)...), leasePart(th, e))
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

// ownerUnknownParts is the sentence of a row whose owner cannot be seen any more.
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

// lossStyle is the style of a loss. Only what should always be owned needs a person then: a lock
// that a worker lost is there for the next one.
func lossStyle(sc *Scene, e *sources.Event) paint.Style {
	row, _ := sc.Rows.Filter.Find(e.Ref)
	if e.RefKind == sources.KindElection || row != nil && row.Expected {
		return sc.Theme.Bad
	}
	return sc.Theme.Warn
}

// takenPart reports that an owner acquired it: a polite hand-over is grey; one that follows a loss of
// which nobody told, or that begins a conflict, is not.
func takenPart(sc *Scene, e *sources.Event) paint.Part {
	switch {
	case e.Detail != "":
		return sc.Theme.Bad.Text("acquired it " + paint.Clean(e.Detail))
	case e.Loss:
		return lossStyle(sc, e).Text("acquired it after a loss")
	}
	return sc.Theme.Dim.Text("acquired it")
}

// changedParts reports that an owner acquired it from another, or that the other lost it to this one.
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

// goneParts says how an owner went before its lease was over: whether it lost it, or gave it up,
// which is normal life.
func goneParts(sc *Scene, e *sources.Event) []paint.Part {
	switch {
	case e.Loss:
		return []paint.Part{lossStyle(sc, e).Text("lost it"), paint.Plain(": " + sc.Theme.Cause(e.Cause, e.How))}
	case e.Cause == sources.CauseReleased:
		return []paint.Part{sc.Theme.Dim.Text(sc.Theme.Cause(e.Cause, e.How) + " it")}
	case e.Cause == sources.CauseUnknown:
		return []paint.Part{sc.Theme.Dim.Text("is gone, not told why")}
	case e.Cause == sources.CauseSession:
		return []paint.Part{sc.Theme.Dim.Text(sc.Theme.Cause(e.Cause, e.How))}
	}
	return []paint.Part{sc.Theme.Warn.Text(sc.Theme.Cause(e.Cause, e.How))}
}

// said is the data of an event, which is told as a quoted text. Where that would only have
// backslashes before quotes, as in JSON, it stands without both.
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

// whoParts names an owner with the letter it has in its row.
func whoParts(sc *Scene, e *sources.Event, o sources.OwnerRef) []paint.Part {
	label, blank := paint.Part{Text: paint.CleanLabel(o.Label), Yield: paint.Name}, paint.Plain(" ")
	switch {
	case o.Label == "" && o.ID == "": // what is said belongs to the row
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

// termHue is the colour and letter of an owner in its row's terms.
func termHue(row *sources.Row, owner string) (uint8, bool) {
	for i := len(row.Terms) - 1; i >= 0; i-- {
		if row.Terms[i].Owner.ID == owner {
			return row.Terms[i].Hue, true
		}
	}
	return 0, false
}

func gapPart(th *paint.Theme, e *sources.Event) paint.Part {
	if e.Gap == (sources.Interval{}) {
		return paint.Part{}
	}
	return th.Dim.Text(", gap " + e.Gap.Text())
}

func leasePart(th *paint.Theme, e *sources.Event) paint.Part {
	if e.LeaseLeft <= 0 {
		return paint.Part{}
	}
	return th.Dim.Text(", " + format.Precise(e.LeaseLeft) + " left")
}

func detailPart(th *paint.Theme, e *sources.Event) paint.Part {
	if e.Detail == "" {
		return paint.Part{}
	}
	return th.Dim.Text("  " + paint.Clean(e.Detail))
}
