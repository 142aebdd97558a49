package screen

import (
	"testing"

	"coordtop/sources"
	"coordtop/ui/paint"
)

func TestAGuessIsMarkedAtItsKind(t *testing.T) {
	t.Parallel()
	sc := &Scene{Theme: new(paint.Scheme).Theme(true), State: &sources.State{}}
	row := &sources.Row{Primitive: &sources.Primitive{Kind: sources.KindElection, LimitHow: sources.Inferred}}
	if got := PlaceOf(sc, row)[0]; got != "~election" {
		t.Errorf("a guess is shown as %s", got)
	}
	row.Primitive.LimitHow = sources.Told
	if got := PlaceOf(sc, row)[0]; got != "election" {
		t.Errorf("what is named is shown as %s", got)
	}
}

func TestStripGivesWayToNamesAndOwners(t *testing.T) {
	t.Parallel()
	short, long := fitColumns(80, Longest{name: 12, owner: 14}), fitColumns(80, Longest{name: 24, owner: 20})
	if short[colStrip] == 0 || short[colOwner] < 14 {
		t.Errorf("short names leave no strip: %v", short)
	}
	if long[colName] < 24 || long[colOwner] < 20 || long[colStrip] > 0 {
		t.Errorf("long names are cut: %v", long)
	}
	huge := fitColumns(80, Longest{name: 300, owner: 300})
	if huge[colWait] == 0 || huge[colLease] == 0 || huge.width() > 80 {
		t.Errorf("names of 300 cells leave %v", huge)
	}
}

func TestWidthsGiveCellsToNamesOrToStrips(t *testing.T) {
	t.Parallel()
	need := Longest{source: 8}
	for _, w := range []int{80, 120, 200} {
		for width := range Shapes {
			c := fitColumns(w, need).shaped(width)
			if got := c.width(); got > w || w >= fullWidth && got < w-12 {
				t.Errorf("%v at %d takes %d cells", width, w, got)
			}
		}
	}
	normal := fitColumns(120, need)
	wide, narrow := normal.shaped(shapeWide), normal.shaped(shapeNarrow)
	if wide[colName] <= normal[colName] || wide[colOwner] <= normal[colOwner] || narrow[colStrip] <= normal[colStrip] {
		t.Errorf("normal %v, wide %v, narrow %v", normal, wide, narrow)
	}
}
