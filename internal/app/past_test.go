package app

import (
	"path/filepath"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

func TestARecordingThatIsNotThereYetHasNoLanes(t *testing.T) {
	t.Parallel()
	if got := (&recording{}).past().reader(); got != nil {
		t.Errorf("without a place the Timeline reads from %v", got)
	}
	r := recording{place: sqlite.Options{Path: filepath.Join(t.TempDir(), historyName)}}
	p := r.past()
	defer p.close()
	ref := sources.Ref{Source: "leases", Name: "a"}
	lanes, err := p.Lanes(t.Context(), []sources.Ref{ref}, history.Span{From: time.Now().Add(-time.Hour), To: time.Now()})
	if err != nil || len(lanes) != 1 || lanes[0].Ref != ref || !lanes[0].Since.IsZero() {
		t.Errorf("it has the lanes %v, %v", lanes, err)
	}
}
