package headless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// ErrNotInTime reports a Wait that did not reach its Goal within the time-out.
var ErrNotInTime = errors.New("the time is over")

// WaitOptions are the options of Wait.
type WaitOptions struct {
	Format  Format
	Names   []string          // SOURCE/NAME or SOURCE/SPACE/NAME; SOURCE: its only primitive, or for a Judged Goal all of it; none: all
	Spaces  map[string]string // by name: the space that is preferred where several primitives have the name
	Any     bool              // one of Names is enough; else all must be so at once
	For     Goal              // must pass Check
	Timeout time.Duration     // 0: no limit
	// Watched reports whether the source would show a row of that name if somebody owned it: then it is free while no row
	// has it. Nil: never.
	Watched func(name string) bool
	Recorded
	Muting
}

// Wait waits until the named primitives have reached the Goal, and prints those that have to out as Get does. It prints
// to diag what it waits for, how that is now, why that cannot be seen, and, if it had to wait, how the wait ended.
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
	again := time.NewTicker(time.Second) // some problems begin and end by time alone
	defer again.Stop()
	sub := feed.Subscribe(0)
	defer sub.Close()
	w := &waiting{WaitOptions: o, feed: feed, diag: diag, said: map[string]bool{}, last: map[string]string{}, began: time.Now()}
	if w.For.Judged() { // a source that had no time to answer is no problem
		if _, err := Settle(ctx, feed, settleWithin, o.Names, time.Time{}); err != nil {
			return fmt.Errorf("waiting: %w", err)
		}
	}
	for waited := false; ; waited = true {
		s := feed.State()
		list, over, err := w.look(s)
		if err != nil {
			return err
		}
		if over {
			if waited {
				w.ended(list)
			}
			return printGet(out, diag, judge(s), list, w.options, Now(feed))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", context.Cause(ctx))
		case <-late:
			return errors.Join(fmt.Errorf("%w: waited %v until %v%s", ErrNotInTime, o.Timeout, o.For, w.now), missing(s, o.Names...))
		case <-again.C:
		case <-sub.Wake():
			_, _ = sub.Events(0) // what happened shows in the next state
		}
	}
}

type waiting struct {
	WaitOptions
	feed    Feed
	options GetOptions // with what is muted now
	diag    io.Writer
	said    map[string]bool
	last    map[string]string // by name: its state that was printed last
	now     string            // the states of the last look, as clauses
	began   time.Time
}

// look returns the rows of the names that have reached the Goal, and reports whether the wait is over.
func (w *waiting) look(s *sources.State) (list []*sources.Row, over bool, err error) {
	if slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool { return errors.Is(src.Err, sources.ErrRefused) }) {
		return nil, false, missing(s)
	}
	w.options, w.now = GetOptions{Format: w.Format, Names: w.Names, FailOn: verdict.Any, Recorded: w.Recorded, Muting: w.Muting}, ""
	if w.For.Judged() {
		w.options.decideMuted(judge(s), Now(w.feed), nil)
	}
	reached, names := 0, w.Names
	if len(names) == 0 {
		names = []string{""}
	}
	for i, name := range names {
		found, ok, err := w.lookAt(s, i, name)
		if err != nil {
			return nil, false, err
		}
		if ok {
			reached++
			list = append(list, found...)
		}
	}
	if over = reached == len(names) || w.Any && reached > 0; over {
		return list, true, nil
	}
	for _, src := range s.Sources {
		if src.Err != nil {
			w.say("still waiting: %v", missing(s))
		}
	}
	return nil, false, nil
}

// lookAt returns the rows that have the i-th name, and reports whether the name has reached the Goal.
func (w *waiting) lookAt(s *sources.State, i int, name string) (list []*sources.Row, ok bool, err error) {
	of := slices.DeleteFunc(slices.Clone(s.Sources), func(src sources.SourceStatus) bool { return name != "" && !strings.HasPrefix(name+"/", src.Name+"/") })
	whole := len(of) > 0 && !slices.ContainsFunc(of, func(src sources.SourceStatus) bool { return !complete(s, src, name) })
	list = one(s, name, w.Spaces[name])
	switch {
	case w.For.Judged() && (name == "" || isSource(s, name)):
		return w.judged(s, list, of, cmp.Or(name, "the selection"), whole)
	case len(list) == 0 && slices.ContainsFunc(of, func(src sources.SourceStatus) bool { return leftOut(s, src).Partial > sources.Reading }):
		return nil, false, missing(s)
	case len(list) > 1 && whole:
		return nil, false, fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(paths(list), ", "))
	case len(list) == 0 && whole && w.For == "absent":
		w.say("the server has nothing of this name: it is absent, or misspelt")
		return nil, true, nil
	case len(list) == 0 && whole && w.For.withoutRow() && w.Watched != nil && w.Watched(name):
		w.say("nobody owns anything of this name: it is free, or misspelt")
		return nil, true, nil
	case len(list) == 0 && whole && w.For == "free":
		return nil, false, notFound(s, name, i)
	case len(list) == 0 && whole:
		w.say("%s: no primitive goes by this name yet%s", typedName(s, name, i), meant(s, name))
	case len(list) != 1:
	case w.For.Judged():
		return w.judged(s, list, nil, path(list[0]), told(list[0].StatusAt(s, Now(w.feed))))
	case w.For.reached(s, list[0], Now(w.feed)):
		return list, true, nil
	default:
		text := textState(s, list[0], Now(w.feed))
		w.tell(path(list[0]), text, text, list[0].Fresh(s))
	}
	return nil, false, nil
}

// judged reports whether rows and sources have a problem, or none, as the Goal says. sure reports whether all of them
// are known now.
func (w *waiting) judged(s *sources.State, list []*sources.Row, of []sources.SourceStatus, name string, sure bool) ([]*sources.Row, bool, error) {
	j, now, mine := judge(s), Now(w.feed), *s
	mine.Sources = of
	j.State = &mine
	wrong := failed(j, list, &w.options, now)
	key, text := "", " has no problem"
	for _, f := range wrong {
		key += f.String() + " " + f.where + "\n"
	}
	if w.For == "calm" && !sure {
		text = " was not read in full yet"
	}
	if len(wrong) > 0 {
		text = fmt.Sprintf(" has a problem: %s (%s)", wrong[0].what, wrong[0].Fault)
	}
	if n := len(wrong); n > 1 {
		text = fmt.Sprintf(" has %d problems, the first is of %s: %s (%s)", n, wrong[0].where, wrong[0].what, wrong[0].Fault)
	}
	w.tell(format.Clean(name, maxText), key, text, true)
	if w.For == "problem" {
		return w.options.withProblem(j, list, now), len(wrong) > 0, nil
	}
	return list, sure && len(wrong) == 0, nil
}

// tell prints the state of a name if its key differs from that of the state that was printed last.
func (w *waiting) tell(name, key, text string, sure bool) {
	w.now += "; " + name + text
	if last, told := w.last[name]; sure && (!told || last != key) {
		w.last[name] = key
		_, _ = fmt.Fprintf(w.diag, "waiting until %v; %s%s\n", w.For, name, text) // nobody need read it
	}
}

// ended prints how the wait ended.
func (w *waiting) ended(list []*sources.Row) {
	which := ""
	if len(list) > 0 {
		which = ": " + format.Some(paths(list), 3)
	}
	w.say("%v after %s%s", w.For, format.Age(time.Since(w.began)), which)
}

// say writes each line once.
func (w *waiting) say(text string, args ...any) {
	line := fmt.Sprintf(text, args...)
	if !w.said[line] {
		w.said[line] = true
		_, _ = fmt.Fprintln(w.diag, line) // nobody need read it
	}
}

// textState returns the state of the row, its owners and who waits, to follow its name.
func textState(s *sources.State, r *sources.Row, now time.Time) string {
	state, verb := r.StatusAt(s, now), " is "
	if state == sources.StatusNoLeader || state == sources.StatusNoCandidates {
		verb = " has "
	}
	text := verb + state.String()
	if len(r.Owners) > 0 {
		text += " by " + textOwners(r.Owners)
	}
	if next := textWaiters(&r.Queue); next != "" {
		text += ", next: " + next
	} else if r.Queue.Len > 0 {
		text += ", " + format.Count(r.Queue.Len) + " wait"
	}
	return text + textDoubt(r)
}
