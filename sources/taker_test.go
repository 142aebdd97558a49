package sources

import (
	"slices"
	"testing"
	"time"
)

// TestWhoTookALockIsKnownToASourceThatBeginsAnew has the owner that a run before knew, and the same as a
// source shows it that has begun since.
func TestWhoTookALockIsKnownToASourceThatBeginsAnew(t *testing.T) {
	t.Parallel()
	leaked, taken, seen := Attr{Key: Leaked, Value: "x", Odd: true}, Attr{Key: TakenBy, Value: "job"}, Attr{Key: FirstSeenAs, Value: "job"}
	state := Attr{Key: "state", Value: "idle"}
	for name, c := range map[string]struct {
		was      []Attr
		proof    uint64 // of the owner now
		is       string // its label as the source has it
		attrs    []Attr // and its attributes
		dark     bool
		label    string
		complete []Attr
	}{
		"nothing done in the dark":    {[]Attr{state, taken, leaked}, 7, "web pid 1", []Attr{state}, true, "job, now web pid 1", []Attr{state, taken, leaked}},
		"first seen":                  {[]Attr{seen, leaked}, 7, "web pid 1", nil, true, "job, now web pid 1", []Attr{seen, leaked}},
		"no proof over the dark":      {[]Attr{taken, leaked}, 8, "web pid 1", nil, true, "web pid 1", nil},
		"something done, in the open": {[]Attr{taken, leaked}, 0, "api pid 1", nil, false, "job, now api pid 1", []Attr{taken}},
		"called so again":             {[]Attr{taken}, 8, "job pid 1", nil, false, "job pid 1", nil},
		"the source knows":            {[]Attr{taken, leaked}, 7, "job, now web pid 1", []Attr{taken, leaked}, false, "job, now web pid 1", []Attr{taken, leaked}},
		"nothing to know":             {[]Attr{state}, 7, "web pid 1", []Attr{state}, true, "web pid 1", []Attr{state}},
	} {
		now := time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC)
		primitive := func(o Owner) *Primitive {
			return &Primitive{At: now, Kind: KindMutex, Limit: 1, LimitHow: Told, OwnersHow: Told, Owners: []Owner{o}, Taken: 1}
		}
		before := primitive(Owner{ID: "1", Label: "job, now web pid 1", Proof: 7, NoExpiry: true, Attrs: c.was})
		after := primitive(Owner{ID: "1", Label: c.is, Proof: c.proof, NoExpiry: true, Attrs: slices.Clone(c.attrs)})
		l := &look{after: now.Add(-time.Second), at: now}
		if c.dark {
			l.darkFrom = l.after
		}
		o := l.complete(before, after).Owners[0]
		if o.Label != c.label || !slices.Equal(o.Attrs, c.complete) {
			t.Errorf("%s: %q %+v, want %q %+v", name, o.Label, o.Attrs, c.label, c.complete)
		}
		if as := after.Owners[0]; as.Label != c.is || !slices.Equal(as.Attrs, c.attrs) {
			t.Errorf("%s: what the source published is changed: %+v", name, as)
		}
	}
}
