package rows

import (
	"errors"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
	"coordtop/ui/filter"
)

// Selection is a filter as the person typed it. The zero Selection lets everything pass.
type Selection struct {
	Text    string                 // as typed
	Only    func(sources.Ref) bool // reports whether a row can be selected at all; nil: each can
	Of      string                 // says for people which rows Only selects
	Expr    filter.Expr
	Mistake *filter.Error // in Text; Expr is then the last one without a mistake
	row     rowSubject    // of the row being judged: kept, so that judging allocates nothing
	Find    func(sources.Ref) (*sources.Row, verdict.Verdict)
	st      *sources.State // of the rows
	now     time.Time      // ages are counted to it
	read    origin.Labels
}

// Empty reports whether everything passes.
func (f *Selection) Empty() bool { return f.Only == nil && f.Expr.Empty() && f.Mistake == nil }

// Parse replaces the text. A text with a mistake leaves the selection as it was before; an
// unfinished one selects by its finished part.
func (f *Selection) Parse(text string, labels func() []string) {
	var keys []string
	if strings.ContainsAny(text, "=~<>") {
		keys = labels()
	}
	expr, err := language.Parse(text, keys)
	f.Text, f.Mistake = text, nil
	if err != nil && (!errors.As(err, &f.Mistake) || !f.Mistake.Open) {
		return
	}
	f.Expr = expr
}

// mostRead bounds the labels whose origins are kept.
const mostRead = 10_000

// At sets the State of the rows that are judged, and the time that ages are counted to.
func (f *Selection) At(st *sources.State, now time.Time) { f.st, f.now = st, now }

// Passes reports whether a row is selected.
func (f *Selection) Passes(r *sources.Row, v verdict.Verdict) bool {
	if f.Only != nil && !f.Only(r.Ref) {
		return false
	}
	if f.Expr.Empty() {
		return true
	}
	if f.read == nil || len(f.read) > mostRead {
		f.read = origin.Labels{}
	}
	f.row = rowSubject{r, f.st, v, f.now, f.read}
	return f.Expr.Match(&f.row)
}

// PassesEvent reports whether an event is selected, by its own fields or by those of its row.
func (f *Selection) PassesEvent(e *sources.Event) bool {
	if f.Only != nil && !f.Only(e.Ref) {
		return false
	}
	if f.Expr.Empty() {
		return true
	}
	s := eventSubject{e, rowSubject{st: f.st, now: f.now, read: f.read}}
	if f.Find != nil && e.Ref.Name != "" {
		s.row, s.v = f.Find(e.Ref)
	}
	return f.Expr.Match(&s)
}

// rowSubject is a row as a filter sees it.
type rowSubject struct {
	row *sources.Row // nil: the row of an event that is gone
	st  *sources.State
	v   verdict.Verdict
	now time.Time

	read origin.Labels // of Selection; nil: none are kept
}

// origins calls f for the owners and waiters of the row, and for its last owner where nobody owns it.
func (s *rowSubject) origins(f func(origin.Origin)) {
	for i := range s.row.Owners {
		f(s.read.OfOwner(&s.row.Owners[i]))
	}
	for i := range s.row.Queue.Waiters {
		f(s.read.OfWaiter(&s.row.Queue.Waiters[i]))
	}
	if last := s.row.LastTerm(); len(s.row.Owners) == 0 && last != nil {
		f(s.read.OfName(last.Owner.Name()))
	}
}

func (s *rowSubject) Words(match func(string) bool) bool {
	r := s.row
	if match(r.Name) || match(r.Source) || match(r.Space) || match(r.Kind.String()) || r.Alias != "" && match(r.Alias) {
		return true
	}
	library, _ := r.Format()
	return match(library) || ownedBy(r, match)
}

func ownedBy(r *sources.Row, match func(string) bool) bool {
	for i := range r.Owners {
		if match(r.Owners[i].Label) || match(r.Owners[i].ID) {
			return true
		}
	}
	return false
}

func (s *rowSubject) Text(field int, match func(string) bool) (found, known bool) {
	if s.row == nil || fields[field].text == nil { // a field of the audit only
		return false, false
	}
	return fields[field].text(s, match)
}

func (s *rowSubject) Number(field int, count bool) (filter.Range, bool) {
	switch {
	case s.row == nil:
		return filter.Range{}, false
	case count:
		return fields[field].count(s)
	}
	return fields[field].number(s)
}

func (s *rowSubject) Label(key string) (string, bool) {
	if s.row != nil {
		for _, l := range s.row.Labels {
			if l.Key == key {
				return l.Value, true
			}
		}
	}
	return "", false
}

// eventSubject is an event as a filter sees it. Fields that events do not have are those of its row.
type eventSubject struct {
	event *sources.Event
	rowSubject
}

func (s *eventSubject) Words(match func(string) bool) bool {
	e := s.event
	return match(e.Ref.Source) || match(e.Ref.Space) || match(e.RefKind.String()) || s.owners(match) || s.named(match)
}

func (s *eventSubject) owners(match func(string) bool) bool {
	e := s.event
	return match(e.Owner.Label) || match(e.Owner.ID) || match(e.Previous.Label) || match(e.Previous.ID)
}

func (s *eventSubject) named(match func(string) bool) bool {
	e := s.event
	return match(e.Ref.Name) || e.Alias != "" && match(e.Alias) || s.row != nil && s.row.Alias != "" && match(s.row.Alias)
}

func (s *eventSubject) Text(field int, match func(string) bool) (found, known bool) {
	if event := fields[field].event; event != nil {
		return event(s, match), true
	}
	return s.rowSubject.Text(field, match)
}

// PassesAudit reports whether an action of the audit is selected.
func (f *Selection) PassesAudit(e *action.AuditEntry) bool {
	return (f.Only == nil || f.Only(e.Ref)) && f.Expr.Match(auditSubject{e})
}

// auditSubject is an action of the audit as a filter sees it.
type auditSubject struct{ *action.AuditEntry }

func (s auditSubject) Words(match func(string) bool) bool {
	return match(s.Who) || match(s.Action) || match(s.Ref.Name) || s.Alias != "" && match(s.Alias) ||
		match(s.Ref.Source) || match(s.Before.Name()) || match(s.After.Name()) ||
		match(s.Reason) || match(s.Result) || match(s.Detail)
}

func (s auditSubject) Text(field int, match func(string) bool) (found, known bool) {
	if fields[field].audit == nil {
		return false, false
	}
	for _, text := range fields[field].audit(s.AuditEntry) {
		if text != "" {
			found, known = found || match(text), true
		}
	}
	return found, known
}

func (auditSubject) Number(int, bool) (r filter.Range, known bool) { return r, false }

func (auditSubject) Label(string) (value string, ok bool) { return "", false }
