package historytest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

const batch = 64 // Inputs that a cursor returns at a time

// Log is a recording in memory with its events. For the other methods of history.Reader, use a file of recordtest.
type Log struct {
	Group int // Inputs of a group; 0: 500

	mu   sync.Mutex
	runs []*run
	next *sources.InputBuffer // of the next Hub
}

type run struct {
	history.Run
	inputs    []sources.Input
	keyframes []*sources.Keyframe // of the groups, beginning with the zero one
	events    []sources.Event
	dark      []history.DarkChange
}

// Begin returns the options of the next Hub, see Recorder.
func (l *Log) Begin() (sources.HubOptions, error) {
	l.next = sources.NewInputBuffer(1<<20, 1<<30)
	return sources.HubOptions{Recorder: l.next}, nil
}

// Record adds the inputs of the Hub when stop is called.
func (l *Log) Record(*sources.Hub) (stop func() error) {
	return func() error {
		inputs, lost := l.next.Take()
		if lost > 0 {
			return fmt.Errorf("%d inputs are lost", lost)
		}
		return l.Add(inputs)
	}
}

// Add adds a run that has ended. inputs are all Inputs of a Hub.
func (l *Log) Add(inputs []sources.Input) error {
	r := &run{inputs: inputs, keyframes: []*sources.Keyframe{{}}}
	again := sources.NewReplayer(sources.HubOptions{})
	hub := again.Hub()
	for i := range inputs {
		if err := again.Apply(inputs[i]); err != nil {
			return err
		}
		if (i+1)%cmp.Or(l.Group, 500) == 0 {
			r.keyframes = append(r.keyframes, hub.Keyframe())
		}
	}
	r.events, _ = hub.Subscribe(0).Events(0)
	r.dark = darkOf(hub.State())
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Run = history.Run{ID: int64(len(l.runs) + 1), Host: "test", Span: history.Span{From: inputs[0].At.Wall, To: inputs[len(inputs)-1].At.Wall}}
	l.runs = append(l.runs, r)
	return nil
}

// Runs returns the runs that were added.
func (l *Log) Runs(context.Context) ([]history.Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var runs []history.Run
	for _, r := range l.runs {
		runs = append(runs, r.Run)
	}
	return runs, nil
}

// Cursor returns a Cursor at the last keyframe that is not after an instant, see history.Log.
func (l *Log) Cursor(_ context.Context, id int64, at time.Time) (history.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.runs, func(r *run) bool { return r.ID == id || id == 0 && !r.To.Before(at) })
	if i < 0 {
		return nil, history.ErrNothing
	}
	c := &cursor{run: l.runs[i]}
	for _, k := range c.run.keyframes {
		if c.keyframe == nil || !k.At.Wall.After(at) {
			c.keyframe, c.next = k, int(k.Seq)
		}
	}
	return c, nil
}

// cursor reads a run.
type cursor struct {
	run      *run
	keyframe *sources.Keyframe // nil: already returned
	next     int
}

func (c *cursor) Next(ctx context.Context) (history.Piece, error) {
	p := history.Piece{Run: c.run.ID, Keyframe: c.keyframe}
	p.Inputs = slices.Clone(c.run.inputs[c.next:min(c.next+batch, len(c.run.inputs))])
	c.keyframe, c.next = nil, c.next+len(p.Inputs)
	return p, ctx.Err()
}

// Events returns recorded events around an instant.
func (l *Log) Events(_ context.Context, at time.Time, before, after int, of history.EventFilter) ([]history.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []history.Event
	for _, r := range l.runs {
		for _, e := range r.events {
			if e.Kind != sources.EventRenewed && (of.Refs == nil || slices.Contains(of.Refs, e.Ref)) && (of.Kinds == nil || slices.Contains(of.Kinds, e.Kind)) {
				all = append(all, history.Event{Event: e, Run: r.ID})
			}
		}
	}
	slices.SortFunc(all, func(a, b history.Event) int { return a.Compare(&b) })
	later := slices.IndexFunc(all, func(e history.Event) bool { return !e.At.Before(at) })
	if later < 0 {
		later = len(all)
	}
	return all[max(later-before, 0):min(later+after, len(all))], nil
}

// darkOf returns the dark stretches in a State.
func darkOf(s *sources.State) (dark []history.DarkChange) {
	for i := range s.Scopes {
		for _, d := range s.Scopes[i].Dark {
			dark = append(dark, history.DarkChange{Source: s.Scopes[i].Source, Scope: s.Scopes[i].Name, Dark: d})
		}
	}
	return dark
}

// Dark returns the unobserved stretches of whole scopes.
func (l *Log) Dark(_ context.Context, span history.Span) (dark []history.DarkChange, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.runs {
		for _, d := range r.dark {
			if d.Dark.From.Before(span.To) && (d.Dark.To.IsZero() || d.Dark.To.After(span.From)) {
				dark = append(dark, d)
			}
		}
	}
	return dark, nil
}
