package app

import (
	"testing"

	"coordtop/internal/config"
	"coordtop/internal/history"
)

func TestTheTimelineReadsNothingWithoutAPlaceForARecording(t *testing.T) {
	t.Parallel()
	if reader := history.Reader(new(settings).recordingAt(config.Config{}, place{}, nil).reader); reader != nil {
		t.Errorf("without a place the Timeline reads from %v", reader)
	}
}
