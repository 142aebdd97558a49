package ui

import (
	"testing"

	"coordtop/ui/uitest"
)

func TestASlowTerminalIsSaidInTheHeader(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	slow := true
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 30, slow: func() bool { return slow }})
	d.shows(t, "slow terminal")
	slow = false
	d.pass(1)
	d.showsNot(t, "slow terminal")
}

func TestTheWindowIsRenamedAtMostOnceInFiveSeconds(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 30})
	called := func(want string) {
		t.Helper()
		if got := d.View().WindowTitle; got != want {
			t.Errorf("the window is called %q, want %q", got, want)
		}
	}
	called("coordtop prod-eu: no problems")
	d.show(uitest.State(noon(), a, lost("b")))
	called("coordtop prod-eu: no problems")
	d.pass(4)
	called("coordtop prod-eu: no problems")
	d.pass(1)
	called("1! prod-eu")
	d.show(uitest.State(noon(), a))
	d.pass(1)
	called("1! prod-eu")
	d.pass(4)
	called("coordtop prod-eu: no problems")
}
