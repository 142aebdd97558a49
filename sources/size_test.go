package sources

import (
	"testing"
	"time"
	"unsafe"
)

func TestWhatARowIsMadeOfFitsItsSizeClasses(t *testing.T) {
	t.Parallel()
	for what, size := range map[string][2]uintptr{ // what the runtime hands out, in bytes
		"row":       {unsafe.Sizeof(Row{}), 128},
		"primitive": {unsafe.Sizeof(Primitive{}), 320},
		"owner":     {unsafe.Sizeof(Owner{}), 288},
		"term":      {unsafe.Sizeof(Term{}), 144},
	} {
		if size[0] > size[1] {
			t.Errorf("a %s takes %d bytes, not %d at most: 1 kB is what a led election may cost", what, size[0], size[1])
		}
	}
}

// Not parallel: what others allocate meanwhile would be counted too.
func TestARenewalAllocatesOneCopyOfThePrimitive(t *testing.T) {
	h := NewHub(t.Context(), HubOptions{})
	t.Cleanup(h.Close)
	feeds, err := h.add([]Spec{{Name: "redis"}})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 1000
	renewals := make([]*Primitive, runs+2)
	for i := range renewals {
		renewals[i] = benchPrimitive(0, 0)
		end := renewals[i].At.Add(30*time.Second + time.Duration(i)*time.Second)
		renewals[i].Owners[0].Expires = StampBetween(end.Add(-time.Millisecond), end, Told)
	}
	n := 0
	got := testing.AllocsPerRun(runs, func() {
		h.apply(feeds[0], Change{Set: renewals[n : n+1]})
		n++
	})
	if got > 3 { // primitive and owners, and now and then a row, a chunk of events or a state
		t.Errorf("a renewal allocates %v times", got)
	}
}

func TestAStampKeepsItsStretchToTheNanosecond(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, d := range []time.Duration{1, 255, 256, time.Millisecond + 7, 78*time.Hour + 1, 2 * 365 * 24 * time.Hour} {
		if got := StampBetween(at.Add(-d), at, Seen).After(); !got.Equal(at.Add(-d)) {
			t.Errorf("in (%v, %v] comes back as after %v", at.Add(-d), at, got)
		}
	}
	if got := StampBetween(at.AddDate(-100, 0, 0), at, Seen).After(); got.After(at.AddDate(-2, 0, 0)) {
		t.Errorf("a century counts as %v", at.Sub(got))
	}
	if got := StampBetween(at, at, Seen).After(); !got.IsZero() {
		t.Errorf("an exact instant has the bound %v", got)
	}
}
