package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/terminal"
)

// alerts call for a person while the window has no focus.
type alerts struct {
	terminal.Alert
	part
	undelivered func() string                  // see Options.Notified
	away        bool                           // the terminal said that the person looks at another window
	seen        map[sources.Ref]bool           // what needs a person and was called for, or was there while they looked
	last        map[diagnose.Pattern]time.Time // when a kind of finding was called for
	due         string                         // for the terminal; "": nothing
}

// callEvery is the least time between two calls for one kind of finding.
const callEvery = time.Minute

// second calls a person who looks elsewhere if something new needs one, and shows a message about notifications that
// were not delivered.
func (a *alerts) second() {
	sc := a.scene
	if a.undelivered != nil {
		if text := a.undelivered(); text != sc.Undelivered {
			if sc.Undelivered = text; text != "" {
				a.host.SayFor(longMessage, paint.Clean(text))
			}
		}
	}
	if a.On() && !a.feeds.replaying() {
		if text := a.news(sc.Findings[:sc.Muted.Unmuted], sc.Clock); text != "" {
			a.due = a.Sequence(sc.Title + ": " + text)
		}
	}
}

// news returns what is new since the person looked, and can be called for at now; "": nothing.
func (a *alerts) news(findings []diagnose.Finding, now time.Time) (text string) {
	seen := map[sources.Ref]bool{}
	var calls []*diagnose.Finding
	for i := range findings {
		f := &findings[i]
		if f.Severity != verdict.Bad {
			continue
		}
		refs := f.Refs()
		fresh := a.away && slices.ContainsFunc(refs, func(ref sources.Ref) bool { return !a.seen[ref] })
		later := fresh && now.Sub(a.last[f.Pattern]).Abs() < callEvery
		for _, ref := range refs {
			seen[ref] = !later || a.seen[ref]
		}
		if fresh && !later {
			calls = append(calls, f)
		}
	}
	a.seen = seen
	for _, f := range calls {
		a.last[f.Pattern] = now
	}
	if len(calls) == 0 {
		return ""
	}
	return calls[0].Title + paint.When(len(calls) > 1, ", and "+format.Count(len(calls)-1)+" more")
}

// send returns the command that makes the terminal call; nil: nothing is due.
func (a *alerts) send() tea.Cmd {
	if a.due == "" {
		return nil
	}
	defer func() { a.due = "" }()
	return tea.Raw(a.due)
}
