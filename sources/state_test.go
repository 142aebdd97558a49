package sources

import "testing"

func TestTheRowOfARefIsThatOfTheStateGivenOrNone(t *testing.T) {
	t.Parallel()
	ref := func(name string) Ref { return Ref{Source: "s", Name: name} }
	var h Hub
	h.model.index.add(ref("mine"), 0)
	h.model.index.add(ref("another's"), 0)
	h.model.index.add(ref("free"), 1)
	h.model.index.add(ref("newer"), 2)
	mine := &Row{Primitive: &Primitive{Ref: ref("mine")}}
	s := &State{Rows: []*Row{mine, nil}}
	tests := []struct {
		name string
		want *Row
	}{
		{"mine", mine},
		{"another's", nil},
		{"free", nil},
		{"newer", nil},
		{"never seen", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := h.Row(s, ref(tt.name)); got != tt.want {
				t.Errorf("the row is %v, want %v", got, tt.want)
			}
		})
	}
}

func TestARowOfAnotherStateIsRecordedSinceNever(t *testing.T) {
	t.Parallel()
	row, s := &Row{Primitive: &Primitive{}, Scope: 1}, &State{Scopes: make([]Scope, 1)}
	if at := row.RecordedSince(s); !at.IsZero() {
		t.Errorf("recorded since %v", at)
	}
	if at := row.OwnerTermsSince(s); !at.IsZero() {
		t.Errorf("terms since %v", at)
	}
	if len(row.Unobserved(s)) > 0 || row.Fresh(s) {
		t.Error("it is fresh, or was observed in part")
	}
}
