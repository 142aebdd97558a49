package ui

import (
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// ended is an election without a leader whose only term ended 8 s before noon.
func ended(start sources.Stamp) *sources.State {
	p := uitest.Led("app", "host-1", noon())
	p.Owners = nil
	st := uitest.State(noon(), p)
	row := st.Rows[0]
	row.Nobody = sources.Stamp{At: noon().Add(-8 * time.Second), How: sources.Seen}
	row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "host-1", Label: "host-1"}, Start: start, End: row.Nobody, Cause: sources.CauseReleased, How: sources.Inferred}}
	return st
}

func TestATermThatIsOverKeepsHowItsStartIsKnown(t *testing.T) {
	t.Parallel()
	began := noon().Add(-20 * time.Second)
	for _, c := range []struct {
		how  sources.Known
		want string
	}{
		{sources.Told, "  11:59:40 to 11:59:52  12s"},
		{sources.AtLeast, "≤11:59:40 to 11:59:52  ≥12s"},
		{sources.Bound, "≥11:59:40 to 11:59:52  ≤12s"},
		{sources.Claimed, "~11:59:40 to 11:59:52  ~12s"},
	} {
		d := drive(newTestFeed(ended(sources.Stamp{At: began, How: c.how})), Options{Width: 120, Height: 40})
		d.shows(t, c.want)
		d.press("enter")
		d.shows(t, c.want)
	}
}

func TestAnEventTellsHowLongItWasOwnedAtLeast(t *testing.T) {
	t.Parallel()
	st := ended(sources.Stamp{At: noon().Add(-20 * time.Second), How: sources.AtLeast})
	d := drive(newTestFeed(st), Options{Width: 120, Height: 40})
	d.feed.Tell(sources.Event{Seq: 1, Kind: sources.EventReleased, Ref: st.Rows[0].Ref, RefKind: sources.KindElection, At: noon(), How: sources.Told,
		Previous: sources.OwnerRef{ID: "host-1", Label: "host-1"}, Held: sources.Interval{Min: 12 * time.Second, Max: sources.Endless}})
	d.show(st)
	d.press("5")
	d.shows(t, "owned for at least 12 s; released, told by the server")
}
