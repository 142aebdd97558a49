package sources

import "testing"

func TestIndexKeepsNothingOfASpaceThatHasNoRows(t *testing.T) {
	t.Parallel()
	var x index
	here, there := Ref{Source: "s", Space: "0", Name: "a"}, Ref{Source: "s", Space: "1", Name: "a"}
	x.add(here, 1)
	x.add(there, 2)
	x.remove(here)
	if len(x.spaces) != 1 {
		t.Errorf("%d spaces are kept, one has a row", len(x.spaces))
	}
	if _, ok := x.find(here); ok {
		t.Error("what was removed is found")
	}
	if slot, ok := x.find(there); !ok || slot != 2 {
		t.Errorf("the row of the other space is %d, %v", slot, ok)
	}
}
