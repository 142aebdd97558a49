package relayed

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
	"coordtop/internal/history/follow"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/ui/dialog"
)

// Feed gives a board the state and the events that a recorder wrote. One goroutine calls its method Events.
type Feed struct {
	*follow.Follower
	own     *sources.Hub // of the sources of this board
	selects func(*sources.Primitive) bool
	changes *sources.Subscription
	acts    *sources.Subscription // of own
	earlier []sources.Event       // recorded before, and not returned yet
	done    map[act]bool          // what this board did, until the recorder reports it
	wake    chan struct{}         // capacity 1
	stop    context.CancelFunc
	joined  sync.WaitGroup
}

// act identifies an action or a note.
type act struct {
	kind sources.EventKind
	ref  sources.Ref
	at   int64
}

func actOf(e *sources.Event) act { return act{e.Kind, e.Ref, e.At.UnixNano()} }

// NewFeed returns the Feed of a Follower. own is the Hub in which actions are carried out, and selects reports whether its
// sources would list a primitive. Events from before the start are read from past until ctx ends. Close ends its goroutine.
func NewFeed(ctx context.Context, f *follow.Follower, past history.Reader, own *sources.Hub, selects func(*sources.Primitive) bool) *Feed {
	feed := &Feed{Follower: f, own: own, selects: selects, done: map[act]bool{}, changes: f.Hub().Subscribe(0), acts: own.Subscribe(0), wake: make(chan struct{}, 1)}
	feed.changes.SkipCalm()
	feed.acts.SkipCalm()
	until := time.Unix(0, math.MaxInt64)
	s := f.Hub().Subscribe(0)
	if kept, _ := s.Events(1); len(kept) > 0 {
		until = kept[0].At // the Hub has all from there on
	}
	s.Close()
	feed.earlier, _ = history.Earlier(ctx, past, until) // the status of f reports a store that cannot be read
	ctx, feed.stop = context.WithCancel(context.WithoutCancel(ctx))
	spawn.Go(ctx, &feed.joined, func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-feed.changes.Wake():
			case <-feed.acts.Wake():
			}
			spawn.Wake(feed.wake)
		}
	})
	return feed
}

// Close ends the wake-ups.
func (f *Feed) Close() {
	f.stop()
	f.joined.Wait()
	f.changes.Close()
	f.acts.Close()
}

// State returns the latest State of the recorder.
func (f *Feed) State() *sources.State { return f.Hub().State() }

// Row returns the row of ref in s, a State of this Feed; nil: it has none.
func (f *Feed) Row(s *sources.State, ref sources.Ref) *sources.Row { return f.Hub().Row(s, ref) }

// Wake returns a channel that receives when there is something new to show.
func (f *Feed) Wake() <-chan struct{} { return f.wake }

// Events returns what was recorded before the start, then what the recorder sees and what this board does. It counts no
// event as missed: the recording has them.
func (f *Feed) Events(max int) (events []sources.Event, missed uint64) {
	if max <= 0 {
		max = math.MaxInt
	}
	n := min(max, len(f.earlier))
	if events, f.earlier = f.earlier[:n:n], f.earlier[n:]; n == max {
		return events, 0
	}
	acts, _ := f.acts.Events(0)
	for _, e := range acts {
		if e.Kind == sources.EventAction || e.Kind == sources.EventNote {
			f.done[actOf(&e)] = true
			events = append(events, e)
		}
	}
	more, _ := f.changes.Events(max - n)
	for _, e := range more {
		if key := actOf(&e); f.done[key] {
			delete(f.done, key) // it was shown when it was done
			continue
		}
		events = append(events, e)
	}
	return events, 0
}

// Own returns the rows as this board sees them itself, where it does, else those of the recorder.
func (f *Feed) Own() dialog.Latest { return ownRows{f} }

type ownRows struct{ *Feed }

// Now returns the time on the clock of this machine, which the Operator uses.
func (ownRows) Now() time.Time { return time.Now() }

func (o ownRows) Row(s *sources.State, ref sources.Ref) *sources.Row {
	theirs := o.Feed.Row(s, ref)
	if row := o.seen(o.own.State(), theirs); row != nil {
		return row
	}
	return theirs
}

// seen returns a row of the recorder as this board sees it itself in s, a State of its own Hub; nil: it does not. Nobody
// owns a row that our source would list and does not.
func (f *Feed) seen(s *sources.State, theirs *sources.Row) *sources.Row {
	if theirs == nil {
		return nil
	}
	if row := f.own.Row(s, theirs.Ref); row != nil {
		if row.Fresh(s) {
			return row
		}
		return nil
	}
	scopes := f.State().Scopes
	row, free := *theirs, *theirs.Primitive
	row.Scope = slices.IndexFunc(s.Scopes, func(c sources.Scope) bool {
		return theirs.Scope < len(scopes) && c.Source == theirs.Source && c.Name == scopes[theirs.Scope].Name
	})
	if row.Scope < 0 || !row.Watched(s) || !f.selects(theirs.Primitive) {
		return nil
	}
	free.Owners, free.Taken, free.Queue = nil, 0, sources.Queue{}
	row.Primitive, row.Listing = &free, s.Scopes[row.Scope].Listing
	return &row
}

// View returns the Hub of the sources of this board with all rows of the recorder that it sees itself.
func (f *Feed) View() operate.View { return ownView{f.own, f} }

type ownView struct {
	*sources.Hub
	feed *Feed
}

func (v ownView) Row(s *sources.State, ref sources.Ref) *sources.Row {
	if row := v.Hub.Row(s, ref); row != nil {
		return row
	}
	return v.feed.seen(s, v.feed.Row(v.feed.State(), ref))
}
