package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/raced"
	"coordtop/sources"
)

// TestAThinnedFileTellsAllButRenewals records an hour, as the program does and in many groups, and thins
// the file. After every step the file is what a process leaves that is killed then, and another reads it.
func TestAThinnedFileTellsAllButRenewals(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]func(t *testing.T, path string){
		"as the program does": func(t *testing.T, path string) {
			historytest.Recorded(t, &recordtest.Recorder{Path: path}, nil, nil)
		},
		"in many groups": func(t *testing.T, path string) { inGroups(t, path, historytest.Hour(t, nil, nil)) },
	} {
		if raced.Enabled && name == "in many groups" {
			continue // it is read in one goroutine; TestAPlayerGoesThroughThinnedGroups reads it in two
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "history.db")
			var recorded time.Time
			synctest.Test(t, func(t *testing.T) {
				record(t, path)
				recorded = time.Now()
			})
			whole := replayOf(t, path)
			if slices.Contains(whole.thin, true) || len(whole.events) < 30 || whole.renewals < 500 || whole.inputs < 2000 {
				t.Fatalf("the recording has %d events, %d renewals, %d inputs, thin %v", len(whole.events), whole.renewals, whole.inputs, whole.thin)
			}
			recordtest.Thin(t, path, recorded.Add(24*time.Hour), func(step int, done bool) {
				if step == 64 || done {
					replayOf(t, path).compare(t, whole)
				}
			})
			thin := replayOf(t, path)
			if slices.Contains(thin.thin, false) || thin.renewals > 0 || thin.inputs > whole.inputs-whole.renewals || len(thin.thin) > 12 {
				t.Errorf("%d renewals and %d of %d inputs are left, thin %v", thin.renewals, thin.inputs, whole.inputs, thin.thin)
			}
			from := sqlite.NewReader(path)
			defer closed(t, from)
			_, sent := recordtest.File(t, from)
			copied := replayOf(t, sent)
			if copied.compare(t, whole); slices.Contains(copied.thin, false) {
				t.Errorf("what was exported is not thin: %v", copied.thin)
			}
		})
	}
}

// TestAPlayerGoesThroughThinnedGroups steps through all events, there and back, of a recording of which
// more and more is thinned, and of groups that are thinned while they are shown.
func TestAPlayerGoesThroughThinnedGroups(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) {
		log := historytest.Hour(t, nil, nil)
		inGroups(t, path, log)
		recorded := time.Now()
		s := sqlite.NewReader(path)
		defer closed(t, s)
		p := history.NewPlayer(t.Context(), s, s)
		defer p.Close()
		runs, err := s.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := func(move func()) history.Position {
			move()
			synctest.Wait()
			pos := p.Position()
			return pos
		}
		walk := func() (there []time.Time) {
			for pos := at(func() { p.Seek(runs[0].From) }); !pos.End; pos = at(func() { p.Step(+1) }) {
				if there = append(there, pos.At); pos.Err != nil || len(there) > 100 {
					t.Fatal(pos.Err, there)
				}
			}
			for last := p.Now(); ; last = p.Now() {
				pos := at(func() { p.Step(-1) })
				if pos.At.Equal(last) {
					return there
				}
				there = append(there, pos.At)
			}
		}
		there := walk()
		if len(there) < 50 {
			t.Fatalf("%d events", len(there))
		}
		check := func() {
			t.Helper()
			if got := walk(); !slices.EqualFunc(got, there, time.Time.Equal) {
				t.Fatalf("events there and back are at\n%v\nwant\n%v", got, there)
			}
		}
		middle := there[len(there)/4]
		at(func() { p.Seek(middle) })
		was := p.Position()
		recordtest.Thin(t, path, recorded.Add(24*time.Hour), func(step int, done bool) {
			if step == 64 {
				check()
				at(func() { p.Seek(middle) })
			}
		})
		p.SetSpeed(60)
		pos := at(func() { p.Play(true); time.Sleep(5 * time.Second); p.Play(false) })
		if ahead := pos.At.Sub(middle); was.Thin || !pos.Thin || ahead < 4*time.Minute || ahead > 8*time.Minute { // a clock is put forward meanwhile
			t.Errorf("%v is thin: %t; after five minutes it is %v: %t", was.At, was.Thin, pos.At, pos.Thin)
		}
		check()
	})
}

// inGroups records log with a group after every 200 Inputs.
func inGroups(t *testing.T, path string, log history.Log) {
	t.Helper()
	runs, err := log.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		w := begun(t, path, run)
		c, err := log.Cursor(t.Context(), 0, run.From)
		if err != nil {
			t.Fatal(err)
		}
		hub, e := sources.NewReplayer(sources.HubOptions{}), sources.NewEncoder(sources.EncoderOptions{})
		told := hub.Hub().Subscribe(0)
		var all []sources.Input
		for more := true; more; {
			p, err := c.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all, more = append(all, p.Inputs...), !p.Empty()
		}
		for group := range slices.Chunk(all, 200) {
			k := hub.Hub().Keyframe()
			b := &history.Batch{Keyframe: e.Keyframe(nil, k), Seq: [2]uint64{k.Seq()}, Span: history.Span{From: group[0].At.Wall, To: group[len(group)-1].At.Wall}}
			for i := range group {
				b.Inputs, b.Count = e.Input(b.Inputs, &group[i]), b.Count+1
				if err := hub.Apply(group[i]); err != nil {
					t.Fatal(err)
				}
			}
			b.Events, _ = told.Events(0)
			b.Events = slices.DeleteFunc(b.Events, func(e sources.Event) bool { return e.Kind == sources.EventRenewed })
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		closed(t, w)
	}
}

func begun(t *testing.T, path string, run history.Run) *sqlite.Writer {
	t.Helper()
	w, err := sqlite.Begin(context.Background(), sqlite.Options{Path: path}, run)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func closed(t *testing.T, w io.Closer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// replay is what a whole recording tells.
type replay struct {
	thin             []bool // of the groups
	states           map[string]shown
	events           []sources.Event // without renewals
	renewals, inputs int
}

// shown is a State at an instant.
type shown struct {
	*sources.State
	now time.Time
}

// replayOf replays a file, and looks at it every minute.
func replayOf(t *testing.T, path string) *replay {
	t.Helper()
	s := sqlite.NewReader(path)
	defer closed(t, s)
	runs, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &replay{states: map[string]shown{}}
	for _, run := range runs {
		c, err := s.Cursor(t.Context(), run.ID, run.From)
		if errors.Is(err, history.ErrNothing) {
			continue // a process that only thinned
		}
		if err != nil {
			t.Fatal(err)
		}
		r.run(t, c)
	}
	return r
}

func (r *replay) run(t *testing.T, c history.Cursor) {
	t.Helper()
	var hub *sources.Replayer
	var told *sources.Subscription
	var next time.Time
	for {
		p, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.Keyframe != nil {
			hub = sources.NewReplayerAt(p.Keyframe, sources.HubOptions{})
			told = hub.Hub().Subscribe(p.Keyframe.LastEvent())
			r.thin = append(r.thin, p.Thin)
		}
		if p.Hole {
			t.Error("something is missing")
		}
		for _, in := range p.Inputs {
			if next.IsZero() {
				next = in.At.Wall
			}
			for ; next.Before(in.At.Wall); next = next.Add(59 * time.Second) {
				r.states[fmt.Sprint(p.Run, next)] = shown{hub.Hub().State(), next}
			}
			if err := hub.Apply(in); err != nil {
				t.Fatal(err)
			}
			r.inputs++
			events, _ := told.Events(0)
			for _, e := range events {
				if e.Seq = 0; e.Kind == sources.EventRenewed {
					r.renewals++
				} else {
					r.events = append(r.events, e)
				}
			}
		}
		if p.Empty() {
			return
		}
	}
}

// compare finds what is told otherwise than by whole, but for leases.
func (r *replay) compare(t *testing.T, whole *replay) {
	t.Helper()
	if !reflect.DeepEqual(r.events, whole.events) {
		t.Errorf("events\n%+v\nwant\n%+v", r.events, whole.events)
	}
	if len(r.states) != len(whole.states) {
		t.Errorf("%d states, want %d", len(r.states), len(whole.states))
	}
	for at, want := range whole.states {
		is := r.states[at]
		if is.State == nil || len(is.Rows) != len(want.Rows) || !reflect.DeepEqual(is.Sources, want.Sources) {
			t.Fatalf("at %s %+v, want %+v", at, is.State, want.State)
		}
		for i, sc := range is.Scopes {
			if age := want.Scopes[i].Alive.Sub(sc.Alive); age < 0 || age >= time.Second {
				t.Errorf("at %s %s answered %v earlier", at, sc.Source, age)
			}
			sc.Alive = want.Scopes[i].Alive
			if fmt.Sprintf("%+v", sc) != fmt.Sprintf("%+v", want.Scopes[i]) {
				t.Errorf("at %s\n%+v\nwant\n%+v", at, sc, want.Scopes[i])
			}
		}
		for slot := range want.Rows {
			is.row(t, is.Rows[slot], want, want.Rows[slot])
		}
	}
}

func (s shown) row(t *testing.T, row *sources.Row, want shown, whole *sources.Row) {
	t.Helper()
	if row == nil || whole == nil {
		if row != whole {
			t.Errorf("at %v %+v, want %+v", s.now, row, whole)
		}
		return
	}
	for _, o := range row.Owners {
		if old := o.Expires != (sources.Stamp{}) && !slices.ContainsFunc(whole.Owners, func(w sources.Owner) bool { return w.Expires == o.Expires && w.Renewed == o.Renewed }); old {
			t.Errorf("at %v %s has an old lease, of %v", s.now, row.Name, o.Expires)
		}
	}
	if is, want := tell(s, row), tell(want, whole); is != want {
		t.Errorf("at %v\n%s\nwant\n%s", s.now, is, want)
	}
}

// tell is all that a row says, but for leases and when they were looked at.
func tell(s shown, row *sources.Row) string {
	p := *row.Primitive
	p.At, p.Queue.At, p.Owners = time.Time{}, time.Time{}, slices.Clone(p.Owners)
	for i := range p.Owners {
		o := &p.Owners[i]
		o.Expires, o.Renewed, o.Rhythm = sources.Stamp{}, sources.Stamp{}, sources.Rhythm{}
	}
	status := map[sources.Status]sources.Status{sources.StatusLedLate: sources.StatusLed, sources.StatusHeldSilent: sources.StatusHeld}
	is, late := status[row.StatusAt(s.State, s.now)]
	if !late {
		is = row.StatusAt(s.State, s.now)
	}
	return fmt.Sprintf("%+v\n%+v %v %v %v %+v\n%+v %v %v %v", p, row.Terms, row.Nobody, row.Slot, row.Gen, slices.Collect(row.Levels()), row.OwnerTerms(), is,
		row.KnownAt(s.State, s.now), row.Changes(s.now, time.Hour))
}
