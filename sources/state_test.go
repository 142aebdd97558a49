package sources_test

import (
	"testing"

	"coordtop/sources"
)

func TestASlotGivesTheRowOfARefOrNone(t *testing.T) {
	t.Parallel()
	mine := &sources.Row{Primitive: &sources.Primitive{Ref: ref("mine")}}
	s := &sources.State{Rows: []*sources.Row{mine, nil}}
	tests := []struct {
		name string
		slot int
		ref  sources.Ref
		want *sources.Row
	}{
		{"its own", 0, ref("mine"), mine},
		{"another's", 0, ref("another"), nil},
		{"a free one", 1, ref("mine"), nil},
		{"one of a newer state", 2, ref("mine"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := s.RowAt(tt.slot, tt.ref); got != tt.want {
				t.Errorf("the slot gave %v, want %v", got, tt.want)
			}
		})
	}
}
