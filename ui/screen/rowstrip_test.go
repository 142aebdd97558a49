package screen

import (
	"testing"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

func TestAStripIsRedOnlyWhereALeaderIsMissed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		expected, led bool
		want          bool
	}{
		{"nobody knows whether it ever had a leader", false, false, false},
		{"it had one", false, true, true},
		{"it should always have one", true, false, true},
	} {
		p := uitest.Lost("a")
		p.Expected = c.expected
		st := uitest.State(uitest.Noon(), p)
		if st.Rows[0].Terms = nil; c.led {
			st.Rows[0].Terms = make([]sources.Term, 1)
		}
		if got := laneOf(&Scene{State: st, Clocks: Clocks{Now: uitest.Noon()}}, st.Rows[0]).Trouble; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
