package sources

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// leasing are the actions of a machine by which leases are renewed, told and cut, and servers answer.
func (m *machine) leasing() map[string]func(*rapid.T) {
	actions := m.actions()
	renew := func(t *rapid.T) {
		s := rapid.IntRange(0, 1).Draw(t, "scope")
		if !m.listed[s] {
			t.Skip("not listed yet")
		}
		var set []*Primitive
		for _, name := range []string{"a", "b", "c", "d"} {
			if old := m.told[s][name]; old != nil && rapid.IntRange(0, 3).Draw(t, "renewed") > 0 {
				p := *old
				p.At, p.Owners = m.clock, slices.Clone(old.Owners)
				for i := range p.Owners {
					left := time.Duration(rapid.SampledFrom([]int{2, 15, 15, 15}).Draw(t, "left")) * time.Second
					p.Owners[i].Expires = StampBetween(m.clock.Add(left-3*time.Millisecond), m.clock.Add(left), Told)
					if rapid.Bool().Draw(t, "told") {
						p.Owners[i].Renewed = Stamp{At: m.clock, How: Told}
					}
					p.Owners[i].NoExpiry = rapid.IntRange(0, 9).Draw(t, "endless") == 0
				}
				set = append(set, &p)
			}
		}
		m.change(t, s, Change{Set: set})
	}
	actions["renew"], actions["renew again"], actions["renew once more"] = renew, renew, renew
	actions["silent"] = func(t *rapid.T) {
		s := rapid.IntRange(0, 1).Draw(t, "scope")
		m.hub.mu.Lock()
		defer m.hub.mu.Unlock()
		if sc := m.hub.model.scope(m.feed, scopeNames[s]); sc.Health == HealthLive {
			m.hub.enterLocked(m.feed, &Input{Kind: InputSilent, At: m.hub.clock.Now(), Scope: sc.Name})
		}
	}
	actions["expect"] = func(t *rapid.T) {
		e := Ending{Ref: Ref{Source: "s", Name: "onea"}, Owner: "a", Cause: CauseEvicted, How: rapid.SampledFrom([]Known{Unknown, Inferred, Told}).Draw(t, "how")}
		m.hub.Expect(e, 20*time.Second)
	}
	return actions
}

// TestAThinnedRecordingDiffersInLeasesOnly thins random runs from any keyframe on, and compares all
// that they tell with the whole ones at each instant.
func TestAThinnedRecordingDiffersInLeasesOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := HubOptions{Recorder: NewInputBuffer(0, 0)}
		m := newMachineOf(t.Context(), o)
		t.Repeat(m.leasing())
		m.hub.Close()
		inputs, _ := o.Recorder.Take()
		taken := []*Keyframe{new(Keyframe)}
		for range 3 { // also between a change and the publish that shows it
			r, err := replayed(NewReplayer(HubOptions{}), inputs[:rapid.IntRange(1, len(inputs)).Draw(t, "keyframe")])
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, r.Hub().Keyframe())
		}
		for _, k := range taken {
			rest := inputs[k.Seq():]
			thin := NewThinner(k)
			cut := rapid.IntRange(0, len(rest)).Draw(t, "cut")
			var left []Input
			for i := range rest {
				if i == cut {
					left = append(left, thin.Take()...)
				}
				if err := thin.Add(rest[i]); err != nil {
					t.Fatal(err)
				}
			}
			left = append(left, thin.Take()...)
			key, left, err := decoded(pieces(thin.Keyframe(), left, 3, EncoderOptions{}))
			if err != nil {
				t.Fatal(err)
			}
			last := key.At().Mono
			for i, in := range left {
				if in.Seq != k.Seq()+uint64(i)+1 || in.At.Mono < last {
					t.Fatalf("input %d of %v is %d at %v", i, last, in.Seq, in.At.Mono)
				}
				last = in.At.Mono
			}
			compareThin(t, k, rest, key, left)
		}
	})
}

// TestNoFieldIsTakenForALease changes one field of a row after the other.
func TestNoFieldIsTakenForALease(t *testing.T) {
	t.Parallel()
	leases := map[string]bool{".Rev": true, ".LowestLease": true, ".Primitive.At": true, ".Primitive.Queue.At": true}
	full, _ := filled[Row](func(int) bool { return true })
	eachLeaf(func(v *Row, name string) {
		field, _ := strings.CutPrefix(name, "all but ")
		lease := leases[field] || strings.HasPrefix(field, ".Primitive.Owners[0].Expires") ||
			strings.HasPrefix(field, ".Primitive.Owners[0].Renewed") || strings.HasPrefix(field, ".Primitive.Owners[0].Rhythm")
		if got := full.sameButLease(v); field != name && got != lease {
			t.Errorf("without %s: %t, want %t", field, got, lease)
		}
	})
}

// compareThin replays both and compares them whenever time goes on.
func compareThin(t *rapid.T, k *Keyframe, inputs []Input, key *Keyframe, left []Input) {
	whole, thin := NewReplayerAt(k, HubOptions{}), NewReplayerAt(key, HubOptions{})
	for i := range inputs {
		apply(t, whole, inputs[i])
		now := inputs[i].At
		if i+1 < len(inputs) && inputs[i+1].At.Mono == now.Mono {
			continue
		}
		for len(left) > 0 && left[0].At.Mono <= now.Mono {
			apply(t, thin, left[0])
			left = left[1:]
		}
		compareStates(t, whole.Hub().State(), thin.Hub().State(), now.Wall)
	}
	want := slices.DeleteFunc(eventsFrom(whole.Hub(), k.lastEvent), func(e Event) bool { return e.Kind == EventRenewed })
	got := eventsFrom(thin.Hub(), k.lastEvent)
	for i := range max(len(want), len(got)) {
		if i < len(want) && i < len(got) {
			want[i].Seq, got[i].Seq = 0, 0
		}
		if i >= len(want) || i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("event %d\n%+v\nwant\n%+v", i, got[i:], want[i:])
		}
	}
}

func apply(t *rapid.T, r *Replayer, in Input) {
	if err := r.Apply(in); err != nil {
		t.Fatal(err)
	}
}

func compareStates(t *rapid.T, whole, thin *State, now time.Time) {
	if !reflect.DeepEqual(thin.Sources, whole.Sources) || len(thin.Scopes) != len(whole.Scopes) || len(thin.Rows) != len(whole.Rows) {
		t.Fatalf("at %v\n%+v\nwant\n%+v", now, thin, whole)
	}
	for i := range whole.Scopes {
		is, want := thin.Scopes[i], whole.Scopes[i]
		if age := want.Alive.Sub(is.Alive); age < 0 || age >= proofEvery || age > 0 && want.Health != HealthLive {
			t.Fatalf("at %v scope %q was alive %v before", now, want.Name, age)
		}
		if is.Alive = want.Alive; !reflect.DeepEqual(is, want) {
			t.Fatalf("at %v\n%+v\nwant\n%+v", now, is, want)
		}
	}
	for slot, want := range whole.Rows {
		is := thin.Rows[slot]
		if (is == nil) != (want == nil) {
			t.Fatalf("at %v slot %d has %+v, want %+v", now, slot, is, want)
		}
		if want == nil {
			continue
		}
		if is.Primitive.thin() != is.Primitive || is.LowestLease != 0 {
			t.Fatalf("at %v there is a lease in %+v", now, is)
		}
		if fresh := want.Fresh(whole); is.At.After(want.At) || !fresh && !is.At.Equal(want.At) || !is.KnownAt(thin, now).Equal(want.KnownAt(whole, now)) {
			t.Fatalf("at %v (fresh: %t) %+v was read at %v, want %v", now, fresh, want.Ref, is.At, want.At)
		}
		if !want.sameButLease(is) {
			t.Fatalf("at %v\n%+v %+v\nwant\n%+v %+v", now, is, is.Primitive, want, want.Primitive)
		}
		if status := is.StatusAt(thin, now.Add(time.Hour)); status == StatusLedLate || status == StatusHeldSilent {
			t.Fatalf("a lease that is not known is %v", status)
		}
	}
}
