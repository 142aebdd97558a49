package history

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"time"

	"coordtop/sources"
)

// errEnd reports that nothing is recorded after the instant that a seeker has reached.
var errEnd = errors.New("the recording ends here")

// errStart reports that nothing is recorded before the instant that a seeker has reached.
var errStart = errors.New("the recording begins here")

// seeker is the part of a Player that reads. Its goroutine alone uses it.
type seeker struct {
	log    Log
	reader EventReader

	cursor    Cursor
	run       int64
	runBegan  time.Time
	live      bool // the run was still recording when the seeker reached its end
	replayer  *sources.Replayer
	hub       *sources.Hub       // of replayer; nil: nothing was read
	reading   chan earlierEvents // receives the events before the group; nil: they were received
	before    []sources.Event
	events    *sources.Subscription // of hub, for marks
	owed      bool                  // something that happened before the keyframe is published after it
	published sources.Instant       // the first publish after the keyframe
	queue     []sources.Input       // read and not applied
	thin      bool                  // the group has no renewals
	opened    time.Time             // the instant for which the group was opened
	began     time.Time             // when the group begins
	first     uint64                // Seq of the first Input after the keyframe
	last      sources.Instant       // of the Input that was applied last
	at        sources.Instant       // the instant that the seeker has reached: last, or a later one
	marks     []sources.Instant     // the publishes, since the group was opened, with which something happened
	hole      Hole
	behind    *Piece // the next Piece if it begins after a hole that the seeker has not crossed; else nil
}

// open moves to the keyframe at which a Cursor of the Log begins.
func (r *seeker) open(ctx context.Context, run int64, t time.Time) error {
	return r.join(r.enter(ctx, run, t))
}

// enter does the same as open, but does not wait for the earlier events.
func (r *seeker) enter(ctx context.Context, run int64, t time.Time) error {
	c, err := r.log.Cursor(ctx, run, t)
	if err != nil {
		return err
	}
	p, err := c.Next(ctx)
	if err != nil {
		return err
	}
	runs, err := r.log.Runs(ctx)
	if err != nil {
		return err
	}
	i := numbered(runs, p.Run)
	if i < 0 {
		return ErrNothing
	}
	*r = seeker{log: r.log, reader: r.reader, hole: r.hole, cursor: c, opened: t, run: p.Run, runBegan: runs[i].From, queue: p.Inputs, thin: p.Thin}
	return r.begin(ctx, p.Keyframe)
}

// numbered returns the index of a run; negative if it is not there.
func numbered(runs []Run, id int64) int {
	return slices.IndexFunc(runs, func(run Run) bool { return run.ID == id })
}

// begin makes the model of a keyframe. If nothing was published yet, it continues to the first State. The events before
// the keyframe are still being read when it returns; join waits for them.
func (r *seeker) begin(ctx context.Context, k *sources.Keyframe) (err error) {
	if err := r.join(nil); err != nil {
		return err
	}
	r.replayer = sources.NewReplayerAt(k, sources.HubOptions{})
	r.hub, r.before, r.owed, r.published = r.replayer.Hub(), nil, false, sources.Instant{}
	defer func() {
		if err != nil {
			r.hub = nil
		}
	}()
	r.first, r.at = k.Seq+1, k.At
	if k.Seq == 0 {
		if err := r.fill(ctx); err != nil {
			return err
		}
		r.at = r.queue[0].At
	}
	r.began, r.last = r.at.Wall, r.at
	r.events = r.hub.Subscribe(k.LastEvent)
	if r.reader != nil {
		r.readBefore(ctx, k.LastEvent)
	}
	published := func(*sources.Input) bool {
		rev, _ := r.replayer.Published()
		return rev > 0
	}
	if published(nil) {
		return nil
	}
	return r.apply(ctx, published)
}

// fill reads until there is an Input to apply, or a hole. An error wraps errEnd if the run has no more Inputs.
func (r *seeker) fill(ctx context.Context) error {
	for len(r.queue) == 0 && r.behind == nil {
		p, err := r.cursor.Next(ctx)
		switch {
		case err != nil:
			return err
		case p.Empty():
			return errEnd
		}
		if p.Hole {
			r.behind = &p
			return nil
		}
		r.queue, r.thin = p.Inputs, p.Thin
		if p.Keyframe != nil {
			if err := r.join(r.begin(ctx, p.Keyframe)); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply applies Inputs until stop returns true for the next one.
func (r *seeker) apply(ctx context.Context, stop func(*sources.Input) bool) error {
	for {
		if err := errors.Join(r.fill(ctx), ctx.Err()); err != nil {
			return err
		}
		if r.behind != nil {
			k := r.behind.Keyframe
			if stop(&sources.Input{Seq: k.Seq + 1, At: k.At}) {
				return nil
			}
			if err := r.cross(ctx); err != nil {
				return err
			}
			continue
		}
		in := &r.queue[0]
		if stop(in) {
			return nil
		}
		if err := r.replayer.Apply(*in); err != nil {
			return err
		}
		r.last, r.at = in.At, in.At
		if in.Kind == sources.InputPublished {
			if r.published == (sources.Instant{}) {
				r.published = in.At
			}
			if r.happened() {
				r.marks = append(r.marks, in.At)
			}
		}
		r.queue = r.queue[1:]
	}
}

// happened reports whether something happened since the last call.
func (r *seeker) happened() bool {
	events, _ := r.events.Events(0)
	if r.owed {
		r.owed = false
		return true
	}
	return slices.ContainsFunc(events, func(e sources.Event) bool { return e.Kind.Happened() })
}

// seek moves to an instant. In a hole it shows the state at the end of the previous run.
func (r *seeker) seek(ctx context.Context, t time.Time) error {
	runs, err := r.log.Runs(ctx)
	if err != nil {
		return err
	}
	if before, hole := holeBetween(runs, t); before != nil {
		if err := r.toEndOf(ctx, *before); err == nil {
			r.advance(t.Sub(r.last.Wall))
			r.hole = hole
			return nil
		} else if !errors.Is(err, ErrNothing) {
			return err
		}
	}
	ahead := t.Sub(r.at.Wall)
	if near := r.hub != nil && ahead >= 0 && ahead < time.Minute; !near {
		if err := r.enter(ctx, 0, t); errors.Is(err, ErrNothing) {
			last, err := r.toEndOfLast(ctx, runs)
			if err == nil {
				r.live, err = last.Live, errEnd
			}
			return err
		} else if err != nil {
			return r.join(err)
		}
	}
	return r.join(r.until(ctx, t))
}

// until applies all Inputs that are not after t, and moves to t.
func (r *seeker) until(ctx context.Context, t time.Time) error {
	err := r.apply(ctx, func(in *sources.Input) bool { return in.At.Wall.After(t) })
	if errors.Is(err, errEnd) {
		run := r.run
		if err := r.pass(ctx, t.Sub(r.at.Wall)); err != nil || r.run == run || !r.at.Wall.Before(t) {
			return err
		}
		return r.until(ctx, t)
	}
	if err == nil && t.After(r.at.Wall) {
		r.advance(t.Sub(r.last.Wall))
		if r.behind != nil {
			r.hole = unrecorded(r.last.Wall, r.behind.Keyframe.At.Wall)
		}
	} else if err == nil && r.began.Sub(t) > time.Second {
		runs, failed := r.log.Runs(ctx)
		r.hole, err = unrecorded(t, r.at.Wall), failed
		r.hole.Dropped = slices.ContainsFunc(runs, func(run Run) bool { return !t.Before(run.From) && t.Before(run.To) })
	}
	return err
}

// advance moves to an instant after the last Input. The caller knows that no Input lies in between.
func (r *seeker) advance(behind time.Duration) {
	r.at = sources.Instant{Wall: r.last.Wall.Add(behind), Mono: r.last.Mono + behind}
}

// play moves forward by recorded time, which is measured on the monotonic clock.
func (r *seeker) play(ctx context.Context, d time.Duration) error {
	to := r.at.Mono + d
	err := r.apply(ctx, func(in *sources.Input) bool { return r.behind == nil && in.At.Mono > to })
	if errors.Is(err, errEnd) {
		return r.pass(ctx, to-r.at.Mono)
	}
	if err == nil {
		r.advance(max(to-r.last.Mono, 0)) // after a hole it is later already
	}
	return err
}

// pass moves forward by d after the last Input of the run. If the run ended before that, it moves to the next run.
func (r *seeker) pass(ctx context.Context, d time.Duration) error {
	runs, err := r.log.Runs(ctx)
	if err != nil {
		return err
	}
	i := numbered(runs, r.run)
	if i < 0 {
		return errEnd
	}
	end := Span{From: r.at.Wall, To: runs[i].To}
	left := max(end.To.Sub(end.From), 0)
	if r.advance(r.at.Wall.Sub(r.last.Wall) + min(d, left)); d <= left {
		return nil
	}
	if r.live = runs[i].Live; r.live {
		return errEnd
	}
	for _, run := range runs[i+1:] {
		err := r.open(ctx, run.ID, run.From)
		if errors.Is(err, ErrNothing) { // it was killed before it recorded anything, or its record was dropped
			continue
		}
		if err == nil {
			r.hole = unrecorded(end.To, r.at.Wall)
		}
		return err
	}
	return errEnd
}

// toEndOfLast moves to the end of the last run that recorded anything.
func (r *seeker) toEndOfLast(ctx context.Context, runs []Run) (last Run, err error) {
	for _, last = range slices.Backward(runs) {
		if err = r.toEndOf(ctx, last); !errors.Is(err, ErrNothing) {
			return last, err
		}
	}
	return last, ErrNothing
}

func (r *seeker) toEndOf(ctx context.Context, run Run) error {
	err := r.enter(ctx, run.ID, run.To)
	if err == nil {
		err = r.until(ctx, run.To)
	}
	if err = r.join(err); errors.Is(err, errEnd) {
		return nil
	}
	return err
}

// next moves to the next publish with which something happened, or, if there is a hole before that, to the end of the
// hole.
func (r *seeker) next(ctx context.Context) error {
	if r.hub == nil {
		return ErrNothing
	}
	hole, marks, run := r.hole, len(r.marks), r.run
	err := r.apply(ctx, func(*sources.Input) bool { return r.hole != hole || len(r.marks) > marks })
	if !errors.Is(err, errEnd) {
		return err
	}
	if err = r.pass(ctx, longest); r.run != run {
		return nil
	}
	return err
}

// longest is longer than any run.
const longest = time.Duration(math.MaxInt64)

// previous moves back to the last publish with which something happened. If the run has no earlier one, it moves to the
// end of the previous run.
func (r *seeker) previous(ctx context.Context) error {
	if r.hub == nil {
		return ErrNothing
	}
	for group := r; ; {
		if n := group.marksBefore(r.at); n > 0 {
			if err := r.open(ctx, r.run, group.opened); err != nil {
				return err
			}
			return r.apply(ctx, func(*sources.Input) bool { return len(r.marks) >= n })
		}
		earlier := &seeker{log: r.log, reader: r.reader}
		if err := earlier.open(ctx, r.run, group.began.Add(-time.Microsecond)); err != nil {
			return err
		}
		began, first := earlier.began, earlier.first
		if first >= group.first {
			return r.endBefore(ctx)
		}
		err := earlier.apply(ctx, func(in *sources.Input) bool {
			return earlier.first >= group.first || !earlier.thin && in.Seq >= group.first // a thin group ends with the keyframe of the next one
		})
		if err != nil && !errors.Is(err, errEnd) {
			return err
		}
		earlier.began, earlier.first = began, first
		group = earlier
	}
}

// marksBefore counts the marks before an instant.
func (r *seeker) marksBefore(at sources.Instant) int {
	return sort.Search(len(r.marks), func(i int) bool { return r.marks[i].Mono >= at.Mono })
}

// endBefore moves to the end of the previous run.
func (r *seeker) endBefore(ctx context.Context) error {
	runs, err := r.log.Runs(ctx)
	if err != nil {
		return err
	}
	i := numbered(runs, r.run)
	before, err := r.toEndOfLast(ctx, runs[:max(i, 0)])
	if errors.Is(err, ErrNothing) {
		return errStart
	}
	r.hole = unrecorded(before.To, runs[max(i, 0)].From)
	return err
}

// cross moves to the end of a hole.
func (r *seeker) cross(ctx context.Context) error {
	p, from := r.behind, r.last.Wall
	r.behind, r.queue, r.thin = nil, p.Inputs, p.Thin
	err := r.join(r.begin(ctx, p.Keyframe))
	r.hole = unrecorded(from, r.at.Wall)
	return err
}
