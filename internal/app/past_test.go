package app

import (
	"testing"

	"coordtop/internal/config"
)

func TestTheTimelineReadsNothingWithoutAPlaceForARecording(t *testing.T) {
	t.Parallel()
	if reader := new(settings).recordingAt(config.Config{}, place{}, nil).past(); reader != nil {
		t.Errorf("without a place the Timeline reads from %v", reader)
	}
}
