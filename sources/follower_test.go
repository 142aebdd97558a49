package sources_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/sources/tape"
)

func TestAFollowerEqualsTheHubOfEachRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := sources.NewFollower(sources.HubOptions{})
		s := f.Hub().Subscribe(0)
		places := map[sources.Ref][2]int{}
		var resume *sources.Keyframe
		var rev uint64
		for run := range 3 {
			o := sources.HubOptions{Recorder: sources.NewInputBuffer(0, 0), Resume: resume}
			m := sources.NewMachine(t.Context(), o)
			defer m.Hub().Close() // also if rapid gives up this case
			m.Hub().KeepAllEvents()
			key := &sources.Keyframe{}
			actions := m.Actions()
			if run > 0 && rapid.Bool().Draw(t, "late") { // the run is entered at a later keyframe
				t.Repeat(actions)
				o.Recorder.Take()
				key = m.Hub().Keyframe()
			}
			s.Events(0)
			had := f.Hub().State().LastSeq > 0
			actions["follow"] = func(t *rapid.T) {
				inputs, _ := o.Recorder.Take()
				if rapid.IntRange(0, 9).Draw(t, "hole") == 0 {
					key, inputs = m.Hub().Keyframe(), nil
				}
				follow(t, f, key, inputs)
				key = nil
				rev = sameAsRecorded(t, f.Hub(), m.Hub(), rev, places)
			}
			t.Repeat(actions)
			actions["follow"](t)
			if _, missed := s.Events(0); had && missed == 0 {
				t.Fatal("the events before the run are not missed")
			}
			resume = m.Hub().Keyframe()
			m.Hub().Close()
		}
	})
}

// follow passes inputs on as a recording restores them.
func follow(t *rapid.T, f *sources.Follower, key *sources.Keyframe, inputs []sources.Input) {
	k := key
	if k == nil {
		k = &sources.Keyframe{}
	}
	back, again, err := recorded(k, inputs, 5, tape.EncoderOptions{})
	if key != nil {
		f.Begin(back)
	}
	if err = errors.Join(err, f.Follow(again)); err != nil {
		t.Fatal(err)
	}
}

// sameAsRecorded compares the last states of two Hubs, apart from slots and numbers, and returns the Rev. places has the
// slots and generations of all rows so far.
func sameAsRecorded(t *rapid.T, follower, recorder *sources.Hub, before uint64, places map[sources.Ref][2]int) (rev uint64) {
	is, was := *follower.State(), *recorder.State()
	if is.Rev < before {
		t.Fatalf("state %d comes after %d", is.Rev, before)
	}
	rev = is.Rev
	is.Rev, is.LastSeq, is.Rows, was.Rev, was.LastSeq, was.Rows = 0, 0, nil, 0, 0, nil
	if !reflect.DeepEqual(is, was) {
		t.Fatalf("the state was\n%+v\nand is\n%+v", was, is)
	}
	rows := func(h *sources.Hub) (list []sources.Row) {
		for slot, row := range h.State().Rows {
			if row == nil {
				continue
			}
			if row.Slot != slot || h.Row(h.State(), row.Ref) != row {
				t.Fatalf("row %v is not at slot %d", row.Ref, slot)
			}
			r := *row
			r.Slot, r.Gen, r.Rev = 0, 0, 0
			list = append(list, r)
		}
		slices.SortFunc(list, func(a, b sources.Row) int { return a.Ref.Compare(b.Ref) })
		return list
	}
	if a, b := rows(recorder), rows(follower); !reflect.DeepEqual(a, b) {
		t.Fatalf("the rows were\n%+v\nand are\n%+v", a, b)
	}
	taken := map[[2]int]sources.Ref{}
	for ref, at := range places {
		taken[at] = ref
	}
	for _, row := range follower.State().Rows {
		if row == nil {
			continue
		}
		at := [2]int{row.Slot, int(row.Gen)}
		if other, ok := taken[at]; ok && other != row.Ref {
			t.Fatalf("%v is at the place of %v", row.Ref, other)
		}
		places[row.Ref] = at
	}
	return rev
}

func TestADoubtMakesAllOldUntilItEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := sources.HubOptions{Recorder: sources.NewInputBuffer(0, 0)}
		m := sources.NewMachine(t.Context(), o)
		t.Repeat(m.Actions())
		m.Hub().Close()
		inputs, _ := o.Recorder.Take()
		f := sources.NewFollower(sources.HubOptions{})
		f.Begin(&sources.Keyframe{})
		if err := f.Follow(inputs); err != nil {
			t.Fatal(err)
		}
		was := f.Hub().State()
		silent := errors.New("the recorder is silent")
		f.Doubt(time.Now(), silent)
		s := f.Hub().State()
		for _, c := range s.Scopes {
			if c.Health == sources.HealthLive {
				t.Fatalf("%+v is live", c)
			}
		}
		for _, c := range s.Sources {
			if c.Health == sources.HealthLive || c.Err == nil || c.Err.Error() == silent.Error() && !errors.Is(c.Err, sources.ErrUnseen) {
				t.Fatalf("%+v is live", c)
			}
		}
		for _, row := range s.Rows {
			if row != nil && row.Fresh(s) {
				t.Fatalf("%v is fresh", row.Ref)
			}
		}
		if f.Doubt(time.Time{}, nil); f.Hub().State() != was {
			t.Fatal("the doubt goes on")
		}
	})
}
