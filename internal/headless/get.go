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
	"coordtop/sources/verdict"
)

// Errors of a look that could not see everything. The part that was seen is printed all the
// same.
var (
	ErrNoAnswer    = errors.New("did not answer")
	ErrCredentials = errors.New("refused our credentials")
	ErrRefused     = errors.New("cannot be watched")
	ErrIncomplete  = errors.New("did not finish its listing in time")
	ErrPartial     = errors.New("is not shown in full")
)

// GetOptions are the wishes for one look.
type GetOptions struct {
	Format  Format
	Names   []string      // only these, as SOURCE/NAME or SOURCE/SPACE/NAME; none: all
	Timeout time.Duration // how long to wait for slow sources; 0: 5 s
	FailOn  verdict.Faults
	// Select says what to add to the URL of a source of that type where nothing is found. Nil: nothing.
	Select func(typ string) string
	// Recall waits until the recording was read and returns what it knew last; nil: nothing. A nil Recall:
	// nothing is recorded.
	Recall func() *sources.Keyframe
	// Actions says what can be done to a row, and to each of its owners, by force. Nil: it is not printed.
	Actions func(r *sources.Row) Actions
}

// Get waits until every source has told everything or has failed, at most for the
// timeout, and prints the state to out. Text prints what is wrong with the sources to
// diag; in JSON it is part of the object.
//
// The error wraps ErrNoAnswer, ErrCredentials, ErrRefused, ErrIncomplete, ErrPartial, ErrNotFound,
// ErrFailed and ErrAmbiguous where they are so; out has been written by then. It wraps the error of ctx
// where ctx ends first, and then nothing is written.
func Get(ctx context.Context, feed Feed, out, diag io.Writer, o GetOptions) error {
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	deadline := time.Now().Add(o.Timeout)
	var last *sources.Keyframe
	var notBefore time.Time
	if o.Recall != nil {
		if last = o.Recall(); last != nil {
			notBefore = last.At.Wall
		}
	}
	s, err := settle(ctx, feed, time.Until(deadline), o.Names, notBefore)
	if err != nil {
		return fmt.Errorf("looking: %w", err)
	}
	if last != nil {
		s = last.Recall(s)
	}
	list := rows(s, o.Names)
	j, now := judge(s), time.Now()
	if err := printGet(out, diag, j, list, o, now); err != nil {
		return err
	}
	return errors.Join(failed(j, list, o.FailOn, now), missing(s, o.Names...), checkNames(s, list, o.Names), checkAbsent(s, list))
}

func printGet(out, diag io.Writer, j *verdict.Judge, list []*sources.Row, o GetOptions, now time.Time) (err error) {
	if o.Format == JSON {
		err = writeGet(out, j, list, o, now)
	} else {
		err = textGet(out, diag, j.State, list, o, now)
	}
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}

// Settle waits until no source has more to tell, or for the timeout.
func Settle(ctx context.Context, feed Feed, timeout time.Duration) (*sources.State, error) {
	return settle(ctx, feed, timeout, nil, time.Time{})
}

// settle waits until the sources have told all that was asked for and the State is not older than notBefore, at
// most for the timeout. No newer State is waited for where no source answers, or notBefore is in the future, as of a
// clock that was put back.
func settle(ctx context.Context, feed Feed, timeout time.Duration, names []string, notBefore time.Time) (*sources.State, error) {
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

// unsettled reports whether a source may have more to tell. One that has failed has not, but
// where it is refused some scopes the others are waited for.
func unsettled(s *sources.State, src sources.SourceStatus, names []string) bool {
	if src.Err == nil {
		return !complete(s, src, names...) && !slices.ContainsFunc(scopesOf(s, src.Name), func(c sources.Scope) bool { return c.Synced && c.About.Partial > sources.Reading })
	}
	return errors.Is(src.Err, sources.ErrRefused) &&
		slices.ContainsFunc(scopesOf(s, src.Name), func(c sources.Scope) bool { return c.Health != sources.HealthStale && !c.Synced })
}

// complete reports whether every scope of a source has been listed, and leaves out nothing that
// may be owned, unless rows were found for each of the names of it that were asked for.
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
	var list []sources.Scope
	for _, c := range s.Scopes {
		if c.Source == source {
			list = append(list, c)
		}
	}
	return list
}

// why sorts the error of a source: one that answers and refuses us has answered.
func why(err error) error {
	switch {
	case errors.Is(err, sources.ErrCredentials):
		return ErrCredentials
	case errors.Is(err, sources.ErrRefused):
		return ErrRefused
	}
	return ErrNoAnswer
}

// missing says which sources are not wholly in s, and why: a line each, those without
// an answer first. names are as for complete.
func missing(s *sources.State, names ...string) error {
	var silent, late []error
	for _, src := range s.Sources {
		name := format.Clean(src.Name, maxText)
		switch why, left := why(src.Err), leftOut(s, src); {
		case complete(s, src, names...):
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

// leftOut is the About of that scope of a source which leaves out most.
func leftOut(s *sources.State, src sources.SourceStatus) (worst sources.About) {
	for _, c := range scopesOf(s, src.Name) {
		if c.About.Partial > worst.Partial && c.Health == sources.HealthLive {
			worst = c.About
		}
	}
	return worst
}

// one returns the rows that go by name, or with "" all; where several do and exactly one of them is
// in space, that one.
func one(s *sources.State, name, space string) []*sources.Row {
	list := rows(s, nil)
	if name != "" {
		list = sources.NamedRows(list, name, false)
	}
	near := slices.DeleteFunc(slices.Clone(list), func(r *sources.Row) bool { return r.Space != space })
	if len(near) == 1 {
		return near
	}
	return list
}

// Find waits as Get does and returns the one row that goes by name, or with "" the one row
// there is; selects is that of GetOptions. Where several do and exactly one of them is in space, it is that one. The
// errors are those of Get; ErrAmbiguous names the candidates.
func Find(
	ctx context.Context, feed Feed, name, space string, timeout time.Duration, selects func(typ string) string,
) (*sources.Row, error) {
	var names []string
	if name != "" {
		names = []string{name}
	}
	s, err := settle(ctx, feed, timeout, names, time.Time{})
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
