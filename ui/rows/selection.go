package rows

import (
	"errors"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/filter"
)

// Selection is what the person has asked to see. The zero selection lets everything
// pass.
type Selection struct {
	Text    string // as typed
	Expr    filter.Expr
	Mistake *filter.Error // what is wrong with what is typed; Expr then is the last that was right
	row     rowSubject    // of the row being judged: kept, so that judging allocates nothing
	Find    func(sources.Ref) (*sources.Row, verdict.Verdict)
	st      *sources.State // that the rows are from
	now     time.Time      // what lengths of time are counted to
}

// Empty reports whether everything passes.
func (f *Selection) Empty() bool { return f.Expr.Empty() && f.Mistake == nil }

// Parse takes other text. One with a mistake leaves what was selected before; one that
// only is not finished selects what it says so far.
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

// Passes reports whether a row is selected.
func (f *Selection) Passes(r *sources.Row, v verdict.Verdict) bool {
	if f.Expr.Empty() {
		return true
	}
	f.row = rowSubject{r, f.st, v, f.now}
	return f.Expr.Match(&f.row)
}

// PassesEvent reports whether an event is selected: by what it says itself, or its row.
func (f *Selection) PassesEvent(e *sources.Event) bool {
	if f.Expr.Empty() {
		return true
	}
	s := eventSubject{e, rowSubject{st: f.st, now: f.now}}
	if f.Find != nil && e.Ref.Name != "" {
		s.row, s.v = f.Find(e.Ref)
	}
	return f.Expr.Match(&s)
}

// rowSubject is a row as a filter sees it.
type rowSubject struct {
	row *sources.Row
	st  *sources.State
	v   verdict.Verdict
	now time.Time
}

func (s *rowSubject) Words(match func(string) bool) bool {
	r := s.row
	if match(r.Name) || match(r.Source) || match(r.Space) || match(r.Kind.String()) || r.Alias != "" && match(r.Alias) || match(formatOf(r)) {
		return true
	}
	return ownedBy(r, match)
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
	if fields[field].text == nil { // of the audit alone
		return false, false
	}
	return fields[field].text(s, match)
}

func (s *rowSubject) Number(field int, count bool) (filter.Range, bool) {
	if count {
		return fields[field].count(s)
	}
	return fields[field].number(s)
}

func (s *rowSubject) Label(key string) (string, bool) {
	for _, l := range s.row.Labels {
		if l.Key == key {
			return l.Value, true
		}
	}
	return "", false
}

// eventSubject is an event as a filter sees it. Fields that no event has are asked of its
// row; nil: it is gone.
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
	switch f := &fields[field]; {
	case f.event != nil:
		return f.event(s, match), true
	case s.row == nil:
		return false, false
	}
	return s.rowSubject.Text(field, match)
}

func (s *eventSubject) Number(field int, count bool) (filter.Range, bool) {
	if s.row == nil {
		return filter.Range{}, false
	}
	return s.rowSubject.Number(field, count)
}

func (s *eventSubject) Label(key string) (string, bool) {
	if s.row == nil {
		return "", false
	}
	return s.rowSubject.Label(key)
}

// PassesAudit reports whether an action of the audit is selected.
func (f *Selection) PassesAudit(e *action.AuditEntry) bool { return f.Expr.Match(auditSubject{e}) }

// auditSubject is an action of the audit as a filter sees it.
type auditSubject struct{ *action.AuditEntry }

func (s auditSubject) Words(match func(string) bool) bool {
	return match(s.Who) || match(s.Action) || match(s.Ref.Name) || s.Alias != "" && match(s.Alias) || match(s.Ref.Source) || match(s.Before.Name()) || match(s.After.Name()) || match(s.Reason) || match(s.Result) || match(s.Detail)
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

// formatOf is the library whose way of keeping a lock a row is; "": none is known.
func formatOf(r *sources.Row) string {
	library, _ := r.Format()
	return library
}
