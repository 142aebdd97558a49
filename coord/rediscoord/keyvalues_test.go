package rediscoord

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestStandingForgetsWhatWasAnsweredAndKeepsWhatWasNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &keyValues{current: "a"}
		want := func(when string, values ...string) {
			t.Helper()
			if got, _ := s.possible(); !slices.Equal(got, values) {
				t.Errorf("%s the key may hold %q, want %q", when, got, values)
			}
		}
		s.sending("b")
		want("while b is sent", "a", "b")
		s.confirmed("b")
		s.sent("b", time.Minute)
		want("after the answer", "b")
		s.sending("c")
		s.sent("c", time.Minute)
		want("after a refusal", "b")
		s.sending("c")
		s.unanswered("c")
		s.sent("c", time.Minute)
		want("after a lost answer", "b", "c")
		s.sending("d")
		s.confirmed("d")
		s.sent("d", time.Minute)
		want("after another answer", "d", "c")
		time.Sleep(time.Minute)
		want("in time for a late arrival", "d", "c")
		time.Sleep(time.Millisecond)
		want("too late for it", "d")
	})
}

func TestStandingTakesOnlySoManyUndecided(t *testing.T) {
	t.Parallel()
	s := &keyValues{current: "a"}
	for i := range mostCandidates {
		value := string(rune('b' + i))
		if !s.sending(value) {
			t.Fatalf("number %d was refused", i)
		}
		s.unanswered(value)
		s.sent(value, time.Hour)
	}
	if s.sending("z") {
		t.Error("one too many was taken")
	}
	if !s.sending("b") {
		t.Error("one that is undecided anyway was refused")
	}
}

func TestFindEndsWithTheError(t *testing.T) {
	t.Parallel()
	s := &keyValues{current: "a"}
	broken := errors.New("broken")
	if found, err := s.find(func(string) (bool, error) { return false, broken }); found || !errors.Is(err, broken) {
		t.Errorf("find: %v, %v", found, err)
	}
}

func TestFindSeesAProclamationThatWasAnsweredMeanwhile(t *testing.T) {
	t.Parallel()
	s := &keyValues{current: "a"}
	server := "a"
	proclaimed := false
	found, err := s.find(func(value string) (bool, error) {
		if !proclaimed { // while the question about a is on its way
			proclaimed, server = true, "b"
			s.sending("b")
			s.confirmed("b")
			s.sent("b", time.Minute)
		}
		return server == value, nil
	})
	if !found || err != nil {
		t.Errorf("find: %v, %v, although the key holds %q", found, err, server)
	}
}

// The key is moved by proclamations of ours that arrive whenever they like, in any order,
// between any two questions; find must never say that it is not ours.
func TestFindNeverLosesAKeyThatIsOurs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &keyValues{current: "a"}
		server := "a"
		type sent struct {
			to   string
			from []string
		}
		var underway []sent
		arrive := func() {
			if len(underway) == 0 {
				return
			}
			i := rapid.IntRange(0, len(underway)-1).Draw(t, "which")
			p := underway[i]
			underway = slices.Delete(underway, i, i+1)
			if slices.Contains(p.from, server) || server == p.to {
				server = p.to
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "proclamations") {
			value := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "value")
			if !s.sending(value) {
				continue
			}
			from, _ := s.possible()
			s.unanswered(value)
			s.sent(value, time.Hour)
			underway = append(underway, sent{value, from})
			if rapid.Bool().Draw(t, "arrives at once") {
				arrive()
			}
		}
		// At most one late arrival a search: each round of find outlasts one.
		late := rapid.Bool().Draw(t, "one arrives during the search")
		found, err := s.find(func(value string) (bool, error) {
			right := server == value
			if late && rapid.Bool().Draw(t, "now") {
				late = false
				arrive()
			}
			return right, nil
		})
		if !found || err != nil {
			t.Fatalf("find: %v, %v, although the key holds %q; possible: %v", found, err, server, s)
		}
	})
}

func TestAnAnswerThatAProclamationOvertookDoesNotUndoIt(t *testing.T) {
	t.Parallel()
	s := &keyValues{current: "old"}
	key := "old"
	holds := func(value string) (bool, error) { return key == value, nil }
	found, err := s.find(func(value string) (bool, error) {
		right, err := holds(value) // the server has answered; the answer is on its way
		s.sending("new")
		key = "new" // obeyed and answered on another connection
		s.confirmed("new")
		s.sent("new", 0)
		return right, err
	})
	if !found || err != nil {
		t.Fatalf("the renewal before the proclamation: %v, %v", found, err)
	}
	if found, err := s.find(holds); !found || err != nil {
		values, _ := s.possible()
		t.Errorf("the next renewal says lost (%v, %v): the key holds %q, possible are %q", found, err, key, values)
	}
}
