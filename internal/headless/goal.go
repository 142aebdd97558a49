package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// ErrNotInTime reports a Wait that did not reach its Goal within the time-out.
var ErrNotInTime = errors.New("the time is over")

// Goal is a state that Wait waits for: "led", "free", "absent", or "owner=" and an id or a label. The pid at
// the end of a Postgres label may be left out.
type Goal string

// Check reports what is wrong with a Goal.
func (g Goal) Check() error {
	switch owner, named := strings.CutPrefix(string(g), "owner="); {
	case g == "led", g == "free", g == "absent", named && owner != "":
		return nil
	}
	return errors.New("write led, free, absent or owner=NAME")
}

// String returns the Goal as words that follow "until".
func (g Goal) String() string {
	if owner, named := strings.CutPrefix(string(g), "owner="); named {
		return "it is owned by " + format.Clean(owner, maxText)
	}
	return "it is " + string(g)
}

// reached reports whether the row is in that state for certain: its source tells it now.
func (g Goal) reached(s *sources.State, r *sources.Row) bool {
	owner, named := strings.CutPrefix(string(g), "owner=")
	state := r.StatusAt(s, time.Now())
	told := state != sources.StatusStale && state != sources.StatusNotObserved && state != sources.StatusUnknown
	free := state == sources.StatusFree || state == sources.StatusNoLeader || state == sources.StatusNoCandidates
	absent := state == sources.StatusAbsent
	switch {
	case named:
		return told && slices.ContainsFunc(r.Owners, func(o sources.Owner) bool {
			pid, _, _ := strings.Cut(o.Session, "@") // of an owner on Postgres: its label ends with it
			return o.ID == owner || o.Label == owner || o.Label == owner+" pid "+pid
		})
	case g == "led":
		return told && !free && !absent
	case g == "free":
		return free
	}
	return absent || free && r.ForgetAfter > 0 // what exists only while somebody owns it
}

// WaitOptions are the wishes for a wait.
type WaitOptions struct {
	Format  Format
	Name    string        // SOURCE/NAME or SOURCE/SPACE/NAME; "": the only primitive
	Space   string        // preferred where several primitives have the name
	For     Goal          // must pass Check
	Timeout time.Duration // 0: no limit
	// Watched reports whether a pattern selects Name: then it is free while no row has it.
	Watched bool
}

// Wait waits until the named primitive has reached its Goal, and prints it to out as Get does. It prints
// to diag what it waits for, and why where that cannot be seen.
//
// The error wraps ErrNotInTime at the end of the time-out, ErrAmbiguous, ErrNotFound where a wait for
// free finds no such name and it is not Watched, ErrCredentials or ErrRefused where a person must
// change something first, and the error of ctx.
func Wait(ctx context.Context, feed Feed, out, diag io.Writer, o WaitOptions) error {
	var late <-chan time.Time
	if o.Timeout > 0 {
		timer := time.NewTimer(o.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	sub := feed.Subscribe(0)
	defer sub.Close()
	w := &waiting{WaitOptions: o, diag: diag, said: map[string]bool{}}
	for {
		s := feed.State()
		list, over, err := w.look(s)
		if err != nil {
			return err
		}
		if over {
			return printGet(out, diag, judge(s), list, GetOptions{Format: o.Format, Names: []string{o.Name}}, time.Now())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", context.Cause(ctx))
		case <-late:
			return errors.Join(fmt.Errorf("%w: waited %v until %v%s", ErrNotInTime, o.Timeout, o.For, w.now(s, list)), missing(s))
		case <-sub.Wake():
			_, _ = sub.Events(0) // what happened shows in the next state
		}
	}
}

type waiting struct {
	WaitOptions
	diag io.Writer
	said map[string]bool
}

// look returns the rows that have the name, and reports whether the wait is over.
func (w *waiting) look(s *sources.State) (list []*sources.Row, over bool, err error) {
	list = one(s, w.Name, w.Space)
	whole := len(s.Sources) > 0 && !slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool { return !complete(s, src) })
	switch {
	case slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool { return errors.Is(src.Err, sources.ErrRefused) }):
		return nil, false, missing(s)
	case len(list) == 0 && slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool { return leftOut(s, src).Partial > sources.Reading }):
		return nil, false, missing(s)
	case len(list) == 1 && w.For.reached(s, list[0]):
		return list, true, nil
	case len(list) > 1 && whole:
		return nil, false, fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(paths(list), ", "))
	case len(list) == 0 && whole && w.For == "absent":
		w.say("the server has nothing of this name: it is absent, or misspelt")
		return nil, true, nil
	case len(list) == 0 && whole && w.For == "free" && w.Watched:
		w.say("nobody owns anything of this name: it is free, or misspelt")
		return nil, true, nil
	case len(list) == 0 && whole && w.For == "free":
		return nil, false, notFound(s, w.Name, 0)
	case len(list) == 0 && whole:
		w.say("%s: no primitive goes by this name yet%s", typedName(s, w.Name, 0), meant(s, w.Name))
	case len(list) == 1 && list[0].Fresh(s):
		w.say("waiting until %v%s", w.For, w.now(s, list))
	}
	for _, src := range s.Sources {
		if src.Err != nil {
			w.say("still waiting: %v", missing(s))
		}
	}
	return list, false, nil
}

// say writes each line once.
func (w *waiting) say(text string, args ...any) {
	line := fmt.Sprintf(text, args...)
	if !w.said[line] {
		w.said[line] = true
		_, _ = fmt.Fprintln(w.diag, line) // nobody need read it
	}
}

// now returns the state of the row as a clause that follows a sentence.
func (w *waiting) now(s *sources.State, list []*sources.Row) string {
	if len(list) != 1 {
		return ""
	}
	r := list[0]
	state, verb := r.StatusAt(s, time.Now()), " is "
	if state == sources.StatusNoLeader || state == sources.StatusNoCandidates {
		verb = " has "
	}
	text := "; " + path(r) + verb + state.String()
	if len(r.Owners) > 0 {
		text += " by " + textOwners(r.Owners)
	}
	return text + textDoubt(r)
}
