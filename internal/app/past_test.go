package app

import (
	"testing"

	"coordtop/internal/config"
	"coordtop/internal/history/sqlite"
)

func TestTheTimelineReadsNothingWithoutAPlaceForARecording(t *testing.T) {
	t.Parallel()
	if reader := new(settings).recordingAt(config.Config{}, sqlite.Options{}, nil).past(); reader != nil {
		t.Errorf("without a place the Timeline reads from %v", reader)
	}
}
