package ui

import (
	"strings"
	"testing"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// TestRowsOfOneNameAreToldApart has one name on two servers of a list, in two sources, and one that is alone.
func TestRowsOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	at := func(source, space, name string) *sources.Primitive {
		p := uitest.Led(name, "host-1", noon())
		p.Source, p.Space = source, space
		return p
	}
	st := uitest.State(noon(), at("workers", "one:6388", "app/job"), at("workers", "two:6388", "app/job"), at("leases", "0", "shared"), at("spare", "0", "shared"), at("leases", "0", "alone"))
	for _, size := range []Options{{Width: 160, Height: 48}, {Width: 80, Height: 24}} {
		feed := newTestFeed(st)
		for i, row := range st.Rows {
			feed.Tell(sources.Event{Seq: uint64(i + 1), At: noon(), Kind: sources.EventAcquired, Ref: row.Ref, RefKind: row.Kind, Owner: row.Terms[0].Owner})
		}
		d := drive(feed, size)
		for _, key := range []string{"2", "3", "5"} {
			d.press(key)
			for _, want := range []string{"one:6388/app/job", "two:6388/app/job", "leases/shared", "spare/shared", "alone"} {
				if !strings.Contains(d.text(), want) {
					t.Errorf("%d cells, screen %s: nothing is called %s:\n%s", size.Width, key, want, d.text())
				}
			}
			d.showsNot(t, "leases/alone")
		}
	}
}
