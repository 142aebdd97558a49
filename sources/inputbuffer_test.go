package sources

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestARecorderIsBoundedAndSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	input := func(bytes int) *Input {
		return &Input{Kind: InputChange, Change: Change{Set: []*Primitive{{Data: Blob{Head: string(make([]byte, bytes))}}}}}
	}
	tests := []struct {
		name       string
		most       [2]int // inputs, bytes
		costs      []int
		kept, lost int
	}{
		{"there is room", [2]int{100, 1 << 20}, make([]int, 100), 100, 0},
		{"too many", [2]int{70, 1 << 20}, make([]int, 100), 70, 30},
		{"too many bytes, and what would fit again does not follow", [2]int{100, 10_000}, []int{5000, 5000, 1, 1}, 1, 3},
		{"one that is larger than all", [2]int{100, 10}, []int{5000}, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := NewInputBuffer(tt.most[0], tt.most[1])
			for round := range 2 {
				for i, cost := range tt.costs {
					in := input(cost)
					in.Seq = uint64(i)
					r.add(in)
				}
				<-r.Wake()
				inputs, lost := r.Take()
				if len(inputs) != tt.kept || lost != uint64(tt.lost) {
					t.Errorf("round %d: %d kept and %d lost, want %d and %d", round, len(inputs), lost, tt.kept, tt.lost)
				}
				for i := range inputs {
					if inputs[i].Seq != uint64(i) {
						t.Errorf("input %d is at %d", inputs[i].Seq, i)
					}
				}
			}
			if inputs, lost := r.Take(); len(inputs) != 0 || lost != 0 {
				t.Errorf("%d inputs come twice", len(inputs))
			}
		})
	}
}

func TestNobodyWaitsForARecorderThatIsFull(t *testing.T) {
	t.Parallel()
	r := NewInputBuffer(1, 0)
	h := NewHub(t.Context(), HubOptions{Recorder: r})
	defer h.Close()
	feeds, err := h.add([]Spec{{Name: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		h.apply(feeds[0], Change{Alive: []string{""}})
	}
	if inputs, lost := r.Take(); len(inputs) != 1 || lost < 1000 {
		t.Errorf("%d inputs are kept and %d lost, want the first one", len(inputs), lost)
	}
	h.apply(feeds[0], Change{Alive: []string{""}})
	if inputs, lost := r.Take(); len(inputs) == 0 || inputs[0].Seq < 1002 || lost > 1 {
		t.Errorf("after the reader came %v are kept and %d lost", inputs, lost)
	}
}

func TestOnlyAWholeRecordingIsReplayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewInputBuffer(0, 0)
		h := NewHub(t.Context(), HubOptions{Recorder: r})
		feeds, err := h.add([]Spec{{Name: "s"}})
		if err != nil {
			t.Fatal(err)
		}
		h.apply(feeds[0], Change{Relists: true, Synced: true, Alive: []string{""}, Set: []*Primitive{prim(time.Now(), owner("a"))}})
		h.disconnected(feeds[0], errors.New("reset"), time.Time{})
		h.Close()
		inputs, _ := r.Take()
		tests := []struct {
			name   string
			inputs []Input
			whole  bool
		}{
			{"whole", inputs, true},
			{"its beginning", inputs[:3], true},
			{"without its beginning", inputs[1:], false},
			{"with a hole", append(inputs[:2:2], inputs[3:]...), false},
			{"twice", append(inputs[:2:2], inputs[1:]...), false},
			{"begun again", append(inputs[:2:2], Input{Seq: 3, Kind: InputStarted, Thresholds: &Thresholds{}}), false},
			{"of an unknown source", append(inputs[:2:2], Input{Seq: 3, Kind: InputConnected, Source: "t"}), false},
			{"silent where nothing was heard", append(inputs[:2:2], Input{Seq: 3, Kind: InputSilent, Source: "s", Scope: "x"}), false},
			{"a note that says nothing", append(inputs[:2:2], Input{Seq: 3, Kind: InputNote}), false},
		}
		for _, tt := range tests {
			again := NewReplayer(HubOptions{})
			var err error
			for i := range tt.inputs {
				if err = again.Apply(tt.inputs[i]); err != nil {
					break
				}
			}
			if (err == nil) != tt.whole || err != nil && !errors.Is(err, ErrRecording) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	})
}
