package sources

import "testing"

func TestANameHasItsSourceOrSpaceWhereItIsNotAlone(t *testing.T) {
	t.Parallel()
	refs := []Ref{
		{"leases", "0", "alone"}, {"leases", "0", "x"}, {"other", "0", "x"},
		{"workers", "a:1", "y"}, {"workers", "b:1", "y"},
		{"coord", "/local/app", "z"}, {"coord", "/local/log", "z"}, {"leases", "0", "z"}, {"leases", "0", "gone"}, {"other", "0", "gone"},
	}
	names := Names{}
	for slot, ref := range refs {
		names.Add(ref.Name, slot)
	}
	names.Remove("gone", 9)
	at := func(slot int32) Ref { return refs[slot] }
	for slot, want := range []string{"alone", "leases/x", "other/x", "a:1/y", "b:1/y", "coord/local/app/z", "coord/local/log/z", "leases/z", "gone"} {
		if got := names.Shown(refs[slot], at); got != want {
			t.Errorf("%+v is %q, not %q", refs[slot], got, want)
		}
	}
	for slot, want := range map[int]string{1: "x", 3: "a:1/y", 5: "local/app/z", 7: "z"} {
		if got := names.InSource(refs[slot], at); got != want {
			t.Errorf("%+v is %q in its source, not %q", refs[slot], got, want)
		}
	}
	if got := names.Shown(refs[9], at); got != "other/gone" { // of an event, after its row
		t.Errorf("a row that is gone is %q", got)
	}
	if got := (Names)(nil).Shown(refs[1], at); got != "x" {
		t.Errorf("without an index it is %q", got)
	}
}
