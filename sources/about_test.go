package sources

import (
	"testing"
	"time"
)

func TestOnlyWhatDiffersALittleOfASourceIsNotToldAgain(t *testing.T) {
	t.Parallel()
	told := About{Mode: "polling", Sampling: time.Second, RoundTrip: 20 * time.Millisecond, Config: []Attr{{Key: "a", Value: "b"}}}
	tests := []struct {
		name   string
		change func(*About)
		same   bool
	}{
		{"nothing", func(*About) {}, true},
		{"a round trip that differs a little", func(a *About) { a.RoundTrip = 24 * time.Millisecond }, true},
		{"a round trip of half", func(a *About) { a.RoundTrip = 10 * time.Millisecond }, true},
		{"a round trip of three times", func(a *About) { a.RoundTrip = 60 * time.Millisecond }, false},
		{"no round trip any more", func(a *About) { a.RoundTrip = 0 }, false},
		{"a pause of twice", func(a *About) { a.Sampling = 2 * time.Second }, true},
		{"a pause of three times", func(a *About) { a.Sampling = 3 * time.Second }, false},
		{"pushed from now on", func(a *About) { a.Sampling = 0 }, false},
		{"mode", func(a *About) { a.Mode = "tracking" }, false},
		{"version", func(a *About) { a.Version = "7" }, false},
		{"role", func(a *About) { a.Role = "replica" }, false},
		{"that there is no space", func(a *About) { a.Absent = true }, false},
		{"incarnation", func(a *About) { a.Incarnation = "2" }, false},
		{"what became of it", func(a *About) { a.Became = "the node was made anew" }, false},
		{"how that is known", func(a *About) { a.BecameHow = Inferred }, false},
		{"warnings", func(a *About) { a.Warnings = []string{"x"} }, false},
		{"settings", func(a *About) { a.Config = nil }, false},
	}
	for _, tt := range tests {
		now := told
		tt.change(&now)
		if got := told.Same(&now); got != tt.same {
			t.Errorf("%s: same is %v", tt.name, got)
		}
	}
}
