package sqlite

import (
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// found is a term that was running when its run first looked.
func found(owner string, at time.Duration) sources.Term {
	return sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: sources.Stamp{At: after(at), How: sources.AtLeast}}
}

// changeOf is what a run says of the primitive "x".
func changeOf(kind sources.Kind, terms ...sources.Term) history.LaneChange {
	return history.LaneChange{Ref: ref("x"), Kind: kind, Scope: "s", Terms: terms}
}

func TestATermThatEndedLongAgoIsNotTakenUpAgain(t *testing.T) {
	t.Parallel()
	mutex, many := sources.KindMutex, sources.KindSemaphore
	again := found("a", 5*m+sec)
	again.End = sources.Stamp{At: after(5*m + 2*sec), How: sources.Seen}
	for name, tt := range map[string]struct {
		between []history.LaneChange // of a run each
		last    history.LaneChange
		want    int // terms of a
	}{
		"another owned it":               {[]history.LaneChange{changeOf(mutex, found("b", 2*m))}, changeOf(mutex, found("a", 5*m)), 2},
		"it was free":                    {[]history.LaneChange{changeOf(mutex)}, changeOf(mutex, found("a", 5*m)), 2},
		"others owned it together":       {[]history.LaneChange{changeOf(many, found("b", 2*m))}, changeOf(many, found("a", 5*m)), 2},
		"it went on":                     {[]history.LaneChange{changeOf(mutex, found("a", 2*m))}, changeOf(mutex, found("a", 5*m)), 1},
		"nobody looked":                  {nil, changeOf(mutex, found("a", 5*m)), 1},
		"it went on and began once more": {nil, changeOf(mutex, again, found("a", 5*m+3*sec)), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := place(t)
			changes := append([]history.LaneChange{changeOf(tt.last.Kind, found("a", sec))}, append(tt.between, tt.last)...)
			for i, c := range changes {
				from := time.Duration(2*i) * m
				w := begun(t, o, from)
				write(t, w, batchOf(from, from+m, c))
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var of []sources.Term
			for _, term := range laneOf(t, store(t, o), "x", span(0, h)).Terms {
				if term.Owner.ID == "a" {
					of = append(of, term)
				}
			}
			if len(of) != tt.want || tt.want == 2 && len(tt.between) > 0 && !equal(of[0].End, sources.Stamp{At: after(m), How: sources.Bound}) {
				t.Errorf("terms %+v, want %d, an earlier one up to the end of its run", of, tt.want)
			}
		})
	}
}
