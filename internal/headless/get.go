package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// Errors of a Get that could not read everything. What was read is printed nevertheless.
var (
	ErrNoAnswer    = errors.New("did not answer")
	ErrCredentials = errors.New("refused our credentials")
	ErrRefused     = errors.New("cannot be watched")
	ErrIncomplete  = errors.New("did not finish its listing in time")
	ErrPartial     = errors.New("is not shown in full")
)

// GetOptions are the options of Get.
type GetOptions struct {
	Format  Format
	Names   []string      // only these, as SOURCE/NAME or SOURCE/SPACE/NAME; none: all
	Timeout time.Duration // how long to wait for slow sources; 0: 5 s
	FailOn  verdict.Faults
	// Select returns what to add to the URL of a source of that type where nothing is found. Nil: nothing.
	Select func(typ string) string
	Recorded
	Problems bool // print only rows with a problem
	Muting
	// Actions returns what can be done to a row, and by force to each of its owners. Nil: it is not printed.
	Actions func(r *sources.Row) Actions

	muted mute.Decision
}

// Recorded is what a recording has. Nothing but Recall is needed to print rows.
type Recorded struct {
	// Recall waits until the recording is read and returns its last state; nil: it has none. A nil Recall
	// means that nothing is recorded.
	Recall func() *sources.Keyframe
	Past   func(sources.Ref) []sources.Term // as of diagnose.Input
	Acts   []sources.Event                  // what people did: see diagnose.Input
	URL    func(*sources.Row) string        // as of diagnose.Input; no part of a recording needs it
}

// find explains what is wrong in a State at now, and returns the rows that have a problem, too. Findings of a source that
// never answered count the rows of last, which may be nil.
func (r *Recorded) find(j *verdict.Judge, now time.Time, last *sources.Keyframe, runbooks map[diagnose.Pattern]string) (wrong []*sources.Row, findings []diagnose.Finding) {
	wrong = diagnose.ProblemRows(j, now)
	return wrong, diagnose.Find(&diagnose.Input{Judge: j, Rows: wrong, Now: now, Past: r.Past, Known: last, Acts: r.Acts, URL: r.URL, Runbooks: runbooks})
}

// Get waits until every source is listed or has failed, at most for the timeout, and prints the state to
// out. Text prints what is wrong with the sources to diag; in JSON it is part of the object.
//
// The error wraps each of ErrNoAnswer, ErrCredentials, ErrRefused, ErrIncomplete, ErrPartial,
// ErrNotFound, ErrFailed and ErrAmbiguous that applies; out has been written by then. Where ctx ends
// first, the error wraps that of ctx, and nothing is written.
func Get(ctx context.Context, feed Feed, out, diag io.Writer, o GetOptions) error {
	s, last, err := look(ctx, feed, o.Timeout, o.Names, o.Recall)
	if err != nil {
		return err
	}
	list := rows(s, o.Names)
	j, now := judge(s), Now(feed)
	o.decideMuted(j, now, last)
	shown := list
	if o.Problems {
		shown = o.withProblem(j, list, now)
	}
	if err := printGet(out, diag, j, shown, o, now); err != nil {
		return err
	}
	return errors.Join(errFailed(failed(j, list, &o, now)), missing(s, o.Names...), checkNames(s, list, o.Names), checkAbsent(s, list))
}

// decideMuted decides what is muted. last is as of Recorded.find.
func (o *GetOptions) decideMuted(j *verdict.Judge, now time.Time, last *sources.Keyframe) {
	if len(o.Mutes) > 0 { // causes are compared with those that were muted
		wrong, findings := o.find(j, now, last, nil)
		o.muted = o.decide(j, wrong, findings, now)
	}
}

// withProblem returns the rows with a problem that counts.
func (o *GetOptions) withProblem(j *verdict.Judge, list []*sources.Row, now time.Time) []*sources.Row {
	return slices.DeleteFunc(slices.Clone(list), func(r *sources.Row) bool {
		v, _ := j.Weigh(r, now)
		return !v.Problem() || o.Unacknowledged && o.muted.Rows[r.Ref] != nil
	})
}

// settleWithin bounds the wait for slow sources.
const settleWithin = 5 * time.Second

// look waits as Settle does, for 5 s where timeout is 0, and adds to the State what the recording has, which it returns,
// too: see Recorded.Recall.
func look(
	ctx context.Context, feed Feed, timeout time.Duration, names []string, recall func() *sources.Keyframe,
) (s *sources.State, last *sources.Keyframe, err error) {
	if timeout <= 0 {
		timeout = settleWithin
	}
	deadline := time.Now().Add(timeout)
	var notBefore time.Time
	if recall != nil {
		if last = recall(); last != nil {
			notBefore = last.At.Wall
		}
	}
	if s, err = Settle(ctx, feed, time.Until(deadline), names, notBefore); err != nil {
		return nil, nil, fmt.Errorf("looking: %w", err)
	}
	if last != nil {
		s = last.Recall(s)
	}
	return s, last, nil
}

func printGet(out, diag io.Writer, j *verdict.Judge, list []*sources.Row, o GetOptions, now time.Time) error {
	if o.Format == JSON {
		return writeGet(out, j, list, o, now)
	}
	return textGet(out, diag, j.State, list, o, now)
}

// Settle waits until the sources have listed everything that names ask for and the State is not older
// than notBefore, at most for the timeout. It waits for no newer State where no source answers, or
// where notBefore is in the future because a clock was put back.
func Settle(ctx context.Context, feed Feed, timeout time.Duration, names []string, notBefore time.Time) (*sources.State, error) {
	if notBefore.After(time.Now()) {
		notBefore = time.Time{}
	}
	sub := feed.Subscribe(0)
	defer sub.Close()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		s := feed.State()
		old := s.At.Before(notBefore) && slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool { return src.Health == sources.HealthLive })
		if len(s.Sources) > 0 && !old && !slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool {
			return unsettled(s, src, names)
		}) {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timer.C:
			return feed.State(), nil
		case <-sub.Wake():
		}
	}
}

// unsettled reports whether a source may still list more. One that has failed will not; where only some
// of its scopes are refused, the others are waited for.
func unsettled(s *sources.State, src sources.SourceStatus, names []string) bool {
	if src.Err == nil {
		return !complete(s, src, names...) && !slices.ContainsFunc(scopesOf(s, src.Name), func(c sources.Scope) bool { return c.Synced && c.About.Partial > sources.Reading })
	}
	return errors.Is(src.Err, sources.ErrRefused) &&
		slices.ContainsFunc(scopesOf(s, src.Name), func(c sources.Scope) bool { return c.Health != sources.HealthStale && !c.Synced })
}

// complete reports whether every scope of a source has been listed, and either none of them leaves out
// anything that may be owned, or each of the names of this source has rows.
func complete(s *sources.State, src sources.SourceStatus, names ...string) bool {
	scopes := scopesOf(s, src.Name)
	if src.Health != sources.HealthLive || len(scopes) == 0 || slices.ContainsFunc(scopes, func(c sources.Scope) bool { return !c.Synced }) {
		return false
	}
	if !slices.ContainsFunc(scopes, func(c sources.Scope) bool { return !c.Whole() }) {
		return true
	}
	asked := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name+"/", src.Name+"/") })
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(name string) bool { return name == src.Name || len(sources.NamedRows(s.Rows, name, false)) == 0 })
}

func scopesOf(s *sources.State, source string) []sources.Scope {
	return slices.DeleteFunc(slices.Clone(s.Scopes), func(c sources.Scope) bool { return c.Source != source })
}

// why returns the kind of a source's error. A source that refuses us has answered.
func why(err error) error {
	switch {
	case errors.Is(err, sources.ErrCredentials):
		return ErrCredentials
	case errors.Is(err, sources.ErrRefused):
		return ErrRefused
	}
	return ErrNoAnswer
}

// missing reports the sources that are not wholly in s, and why: a line each, those without an answer
// first; one line for those that nobody is seen to observe. names are as for complete.
func missing(s *sources.State, names ...string) error {
	var silent, late []error
	unseen := false
	for _, src := range s.Sources {
		name := format.Clean(src.Name, maxText)
		switch why, left := why(src.Err), leftOut(s, src); {
		case complete(s, src, names...):
		case errors.Is(src.Err, sources.ErrUnseen):
			if !unseen {
				silent = append(silent, fmt.Errorf("the recorder %w: %s", why, format.Clean(src.Err.Error(), 400)))
			}
			unseen = true
		case src.Err != nil:
			silent = append(silent, fmt.Errorf("%s %w: %s", name, why, format.Clean(src.Err.Error(), 400)))
		case left.Partial == sources.Refused:
			silent = append(silent, fmt.Errorf("%s %w in full: %s", name, ErrRefused, format.Clean(left.LeftOut, 400)))
		case left.Partial == sources.TooMany:
			late = append(late, fmt.Errorf("%s %w: %s", name, ErrPartial, format.Clean(left.LeftOut, 400)))
		case left.Partial == sources.Reading:
			late = append(late, fmt.Errorf("%s %w: %s, or give it longer with --timeout", name, ErrIncomplete, format.Clean(left.LeftOut, 400)))
		case src.Health == sources.HealthLive:
			late = append(late, fmt.Errorf("%s %w: give it longer with --timeout", name, ErrIncomplete))
		default:
			silent = append(silent, fmt.Errorf("%s %w in time: check its address, %s, or give it longer with --timeout",
				name, ErrNoAnswer, format.Clean(src.Address, maxText)))
		}
	}
	return errors.Join(append(silent, late...)...)
}

// leftOut returns the About of the scope that leaves out most of a source.
func leftOut(s *sources.State, src sources.SourceStatus) (worst sources.About) {
	for _, c := range scopesOf(s, src.Name) {
		if c.About.Partial > worst.Partial && c.Health == sources.HealthLive {
			worst = c.About
		}
	}
	return worst
}

// one returns the rows that go by name, those of a source whose name it is, or all rows where name is "". Of several it
// returns the one that is in space, if exactly one is.
func one(s *sources.State, name, space string) []*sources.Row {
	list := rows(s, nil)
	if name != "" {
		list = rows(s, []string{name})
	}
	near := slices.DeleteFunc(slices.Clone(list), func(r *sources.Row) bool { return r.Space != space })
	if len(near) == 1 {
		return near
	}
	return list
}

// Find waits as Get does and returns the one row that goes by name, or the only row where name is "". Of
// several it returns the one that is in space, if exactly one is. selects is GetOptions.Select. The errors
// are those of Get; ErrAmbiguous names the candidates.
func Find(
	ctx context.Context, feed Feed, name, space string, timeout time.Duration, selects func(typ string) string,
) (*sources.Row, error) {
	var names []string
	if name != "" {
		names = []string{name}
	}
	s, err := Settle(ctx, feed, timeout, names, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("looking: %w", err)
	}
	list := one(s, name, space)
	if len(list) == 1 {
		return list[0], nil
	}
	if err := missing(s); err != nil {
		return nil, err
	}
	if name != "" {
		return nil, checkNames(s, list, names)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the primitive that the URL names: %w; name it as %s", ErrNotFound, hints(s, selects))
	}
	return nil, fmt.Errorf("the primitive that the URL names: %w: %s", ErrAmbiguous, strings.Join(paths(list), ", "))
}
