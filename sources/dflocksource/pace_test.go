package dflocksource

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/sources/kit"
)

// TestPaceFollowsChangesTheScreenAndTheCost also looks that no pause comes near the 23 s after which
// a server ends a silent connection.
func TestPaceFollowsChangesTheScreenAndTheCost(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	begin := time.Now()
	type look struct {
		after, cost  time.Duration
		moved, eager bool
		want         time.Duration
	}
	for name, looks := range map[string][]look{
		"nothing happens":            {{20 * time.Second, ms, false, false, time.Second}},
		"a change":                   {{0, ms, true, false, 500 * ms}, {9 * time.Second, ms, false, false, 500 * ms}, {11 * time.Second, ms, false, false, time.Second}},
		"a selected row":             {{20 * time.Second, ms, false, true, 500 * ms}},
		"one look that stalls":       {{20 * time.Second, ms, false, false, time.Second}, {22 * time.Second, time.Second, false, false, time.Second}},
		"looks that cost":            {{20 * time.Second, 100 * ms, false, false, 2 * time.Second}},
		"looks that cost, and a row": {{20 * time.Second, 100 * ms, false, true, 2 * time.Second}},
		"looks that cost very much":  {{20 * time.Second, 2 * time.Second, true, true, 5 * time.Second}},
	} {
		p := kit.Pace{Min: 500 * ms, Max: 5 * time.Second}
		for _, l := range looks {
			at := begin.Add(l.after)
			if p.AddCost(l.cost); l.moved {
				p.Changed = at
			}
			if got := p.Pause(at, l.eager); got != l.want {
				t.Errorf("%s, after %v: a pause of %v, want %v", name, l.after, got, l.want)
			}
		}
	}
	o, err := Options{PollMin: time.Minute, PollMax: time.Hour}.withDefaults()
	if err != nil || o.PollMin != longestPoll || o.PollMax != longestPoll {
		t.Errorf("pauses from %v to %v, %v", o.PollMin, o.PollMax, err)
	}
}

func TestKeysBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	for i := range mostKeys {
		l.rows[fmt.Sprint("key ", i)] = &row{unused: l.began, exact: true}
	}
	l.at(0, true, locks(held("a", 7, time.Minute), held("b", 7, time.Minute)))
	if w := l.warnings(); len(w) != 1 || w[0] != "2 keys more than are watched: select some with keys=" {
		t.Errorf("it says %q", w)
	}
}

func TestKeysThatCannotBeToldExactlyAreCounted(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Selections: []Selection{{Pattern: "*"}}}} {
		l := newListings(o)
		for i := range 2 { // the count is that of one listing
			l.at(time.Duration(i)*time.Second, i == 0, locks(
				held("a\x00b", 7, time.Minute), held("a\ufffd", 8, time.Minute), held("a\ufffd", 9, time.Minute), held("a\xff", 9, time.Minute), held("ключ", 7, time.Minute)))
		}
		w := l.warnings()
		if len(w) != 1 || !strings.HasPrefix(w[0], "keys that cannot be shown exactly, and are left out: 4, such as ") {
			t.Errorf("it says %q", w)
		}
		if len(l.rows) != 1 || l.rows["ключ"] == nil {
			t.Errorf("it shows %d keys", len(l.rows))
		}
	}
	for _, key := range []string{"a\x00b", "a\ufffd", "a\xff"} {
		if err := (dflockwire.Key{Name: key}).Check(); !errors.Is(err, dflockwire.ErrInvalid) {
			t.Errorf("%q can be sent: %v", key, err)
		}
		if _, err := New(Options{Client: dflockcoord.ClientOptions{Servers: []string{"a:1"}}, Selections: []Selection{{Pattern: key}}}); err == nil {
			t.Errorf("%q can be selected", key)
		}
	}
}

func TestTheBoundOfKeysIsThatOfAllServersOfASource(t *testing.T) {
	t.Parallel()
	o, err := Options{Client: dflockcoord.ClientOptions{Servers: []string{"a:1", "b:1"}}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	l := listings{newTable(&o, "a:1"), time.Now()}
	var list listing
	for i := range mostKeys/2 + 3 {
		list = append(list, held(fmt.Sprint("key", i), 7, time.Minute))
	}
	c, _ := l.at(0, true, list)
	if len(c.Set) != mostKeys/2 || l.untaken != 3 {
		t.Errorf("%d keys are watched, %d are not", len(c.Set), l.untaken)
	}
	if c, _ = l.at(time.Second, false, list[:10]); len(c.Set) == 0 || len(l.warnings()) != 1 {
		t.Errorf("%d keys are free now, %q", len(c.Set), l.warnings())
	}
}
