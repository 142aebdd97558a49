package historytest

import (
	"context"
	"slices"
	"sync"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// batch is how many Inputs a cursor returns at a time.
const batch = 64

// Log is a recording in memory. Its groups begin where its runs do.
type Log struct {
	mu   sync.Mutex
	runs []*run
}

type run struct {
	history.Run
	inputs []sources.Input
}

// Add adds a run, or goes on with the last one if that is live. inputs is not empty.
func (l *Log) Add(inputs []sources.Input, live bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.runs)
	if n == 0 || !l.runs[n-1].Live {
		n++
		l.runs = append(l.runs, &run{Run: history.Run{ID: int64(n), Host: "test", Span: history.Span{From: inputs[0].At.Wall}}})
	}
	r := l.runs[n-1]
	r.inputs = append(r.inputs, inputs...)
	r.To, r.Live = inputs[len(inputs)-1].At.Wall, live
}

// Runs returns who recorded.
func (l *Log) Runs(context.Context) ([]history.Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var runs []history.Run
	for _, r := range l.runs {
		runs = append(runs, r.Run)
	}
	return runs, nil
}

// Open goes to the beginning of the run that recorded at an instant, else of the next one.
func (l *Log) Open(_ context.Context, at time.Time) (history.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.runs, func(r *run) bool { return !r.To.Before(at) })
	if i < 0 {
		return nil, history.ErrNothing
	}
	return &cursor{log: l, run: l.runs[i]}, nil
}

// cursor reads a run from its beginning.
type cursor struct {
	log  *Log
	run  *run
	next int
}

func (c *cursor) Run() int64 { return c.run.ID }

func (c *cursor) Keyframe() *sources.Keyframe { return nil }

func (c *cursor) Restarted() bool { return false }

func (c *cursor) Next(ctx context.Context) ([]sources.Input, error) {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	inputs := c.run.inputs[c.next:min(c.next+batch, len(c.run.inputs))]
	c.next += len(inputs)
	return slices.Clone(inputs), ctx.Err()
}
