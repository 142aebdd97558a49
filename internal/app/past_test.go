package app

import "testing"

func TestTheTimelineReadsNothingWithoutAPlaceForARecording(t *testing.T) {
	t.Parallel()
	reader, closeReader := (&recording{}).past()
	defer closeReader()
	if reader != nil {
		t.Errorf("without a place the Timeline reads from %v", reader)
	}
}
