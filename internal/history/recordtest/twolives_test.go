package recordtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// lost has the recordings of two recorders of one world. The first lost the store, and the second took over later.
type lost struct {
	spool, second, whole string    // files: of the first; of the second; as if the first had never lost the store
	cut, began           time.Time // the last write of the first; the begin of the second
	ended                time.Time // the end of the first, which records later again
}

// observed is a Hub that is recorded into a file.
type observed struct {
	script *sourcetest.Script
	hub    *sources.Hub
	end    func()
}

func (w *world) observe(t *testing.T, path string, resume *sources.Keyframe) *observed {
	t.Helper()
	o := &observed{script: sourcetest.NewScript("one", "two")}
	o.script.OnConnect(w.listing)
	r := &Recorder{Path: path, inputs: sources.NewInputBuffer(0, 0)}
	o.hub = sources.NewHub(t.Context(), sources.HubOptions{Recorder: r.inputs, Resume: resume})
	stop := r.Record(o.hub)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- sources.Run(ctx, o.hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: o.script, Silence: 5 * time.Second}})
	}() // received below
	o.end = func() {
		cancel()
		<-done
		o.hub.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	return o
}

// live lets a world live, and records it.
func live(t *testing.T, seed uint64) (l lost) {
	t.Helper()
	folder := t.TempDir()
	l.spool, l.second, l.whole = filepath.Join(folder, "spool.db"), filepath.Join(folder, "second.db"), filepath.Join(folder, "whole.db")
	synctest.Test(t, func(t *testing.T) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 3)), rows: map[string]*sources.Primitive{}}
		var all []*observed
		stepAfter := func(pause time.Duration) {
			time.Sleep(pause)
			name := primitives()[w.IntN(4)]
			p := w.change(name)
			for _, o := range all {
				c := sources.Change{Scope: scopeOf(name), At: sources.Wall(), Alive: []string{scopeOf(name)}}
				if p == nil {
					c.Gone = []sources.Ref{{Source: "s", Name: name}}
				} else {
					c.Set = []*sources.Primitive{now(p)}
				}
				o.script.Push(c)
			}
			synctest.Wait()
		}
		step := func() { stepAfter(time.Duration(500+w.IntN(1500)) * time.Millisecond) }
		burst := func() { // what changes last is not published yet
			for range 3 {
				stepAfter(time.Millisecond)
			}
			time.Sleep(time.Millisecond)
		}
		for _, name := range primitives() {
			w.change(name)
		}
		first, whole := w.observe(t, l.spool, nil), w.observe(t, l.whole, nil)
		all = []*observed{first, whole}
		for range 15 {
			step()
		}
		time.Sleep(2 * time.Second)
		burst()
		l.cut = time.Now()
		known := first.hub.Keyframe()
		for range w.IntN(12) {
			step()
		}
		time.Sleep(2 * time.Second)
		burst()
		whole.end()
		synctest.Wait()
		last := whole.hub.Keyframe()
		l.began = time.Now()
		second, again := w.observe(t, l.second, known), w.observe(t, l.whole, last)
		all = []*observed{first, second, again}
		for range 20 {
			step()
		}
		time.Sleep(2 * time.Second)
		for _, o := range all {
			o.end()
		}
		l.ended = time.Now()
		time.Sleep(time.Second)
		again = w.observe(t, l.spool, nil)
		time.Sleep(2 * time.Second)
		again.end()
	})
	return l
}

// told has a line for each fact.
func told(t *testing.T, r history.Reader, span history.Span) (lines []string) {
	t.Helper()
	lanes, err := r.Lanes(t.Context(), nil, span)
	if err != nil {
		t.Fatal(err)
	}
	stamp := func(s sources.Stamp) string {
		if s.How == sources.Unknown {
			return "now"
		}
		return fmt.Sprintf("%s(%v, %s)", s.At.UTC().Format("04:05.000"), s.How, s.Earliest().UTC().Format("04:05.000"))
	}
	at := func(t time.Time) string { return t.UTC().Format("04:05.000") }
	for _, l := range lanes {
		lines = append(lines, fmt.Sprintf("%s %v since %s", l.Ref.Name, l.Kind, at(l.Since)))
		for _, x := range l.Terms {
			lines = append(lines, fmt.Sprintf("%s term %s/%d %s..%s %v", l.Ref.Name, x.Owner.ID, x.Owner.Fence, stamp(x.Start), stamp(x.End), x.Cause))
		}
		for _, d := range l.Dark {
			lines = append(lines, fmt.Sprintf("%s dark from %s", l.Ref.Name, at(d.From)))
		}
		taken := uint64(99)
		for _, v := range l.Levels {
			if v.Taken == taken || v.At.After(span.From.Add(time.Hour)) {
				continue // a recorder writes the level that it finds
			}
			taken = v.Taken
			lines = append(lines, fmt.Sprintf("%s level %s %d", l.Ref.Name, at(v.At), v.Taken))
		}
	}
	events, err := r.Events(t.Context(), span.To, 10000, 0, history.EventFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("event %d %s %s %v %s<-%s after %s", e.Run, at(e.At), e.Ref.Name, e.Kind, e.Owner.ID, e.Previous.ID, at(e.After)))
	}
	runs, err := r.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		lines = append(lines, fmt.Sprintf("run %d %s..%s", run.ID, at(run.From), at(run.To)))
	}
	return lines
}
