package headless

import (
	"errors"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Goal is a state that Wait waits for: "led", "free", "absent", "owner=" and an id or a label, "problem" or "calm". The
// pid at the end of a Postgres label may be left out.
type Goal string

// Check reports what is wrong with a Goal.
func (g Goal) Check() error {
	owner, named := strings.CutPrefix(string(g), "owner=")
	if named && owner != "" || slices.Contains([]Goal{"led", "free", "absent", "problem", "calm"}, g) {
		return nil
	}
	return errors.New("write led, free, absent, problem, calm or owner=NAME")
}

// Judged reports whether the Goal is about problems. Then a whole source may be waited for.
func (g Goal) Judged() bool { return g == "problem" || g == "calm" }

// String returns the Goal as words that follow "until".
func (g Goal) String() string {
	if owner, named := strings.CutPrefix(string(g), "owner="); named {
		return "it is owned by " + format.Clean(owner, maxText)
	}
	if g == "problem" {
		return "it has a problem"
	}
	return "it is " + string(g)
}

// told reports whether the row's source tells the row's state now.
func told(state sources.Status) bool {
	return state != sources.StatusStale && state != sources.StatusNotObserved && state != sources.StatusUnknown
}

// reached reports whether the row is in that state for certain: its source tells it now.
func (g Goal) reached(s *sources.State, r *sources.Row, now time.Time) bool {
	owner, named := strings.CutPrefix(string(g), "owner=")
	state := r.StatusAt(s, now)
	free := state == sources.StatusFree || state == sources.StatusNoLeader || state == sources.StatusNoCandidates
	absent := state == sources.StatusAbsent
	switch {
	case named:
		return told(state) && slices.ContainsFunc(r.Owners, func(o sources.Owner) bool {
			pid, _, _ := strings.Cut(o.Session, "@") // of an owner on Postgres: its label ends with it
			return o.ID == owner || o.Label == owner || o.Label == owner+" pid "+pid
		})
	case g == "led":
		return told(state) && !free && !absent
	case g == "free":
		return free
	}
	return absent || free && r.ForgetAfter > 0 // what exists only while somebody owns it
}

// withoutRow reports whether the Goal is reached where nobody owns anything of a name.
func (g Goal) withoutRow() bool { return g == "free" || g == "calm" }
