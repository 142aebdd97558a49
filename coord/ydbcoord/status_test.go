package ydbcoord_test

import (
	"testing"

	"coordtop/coord/ydbcoord"
)

func TestWhoWatchesTheLinkIsWokenByEveryLossAndAttach(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		keep(t, s)
		for range 3 {
			lost, number := s.StatusChanged(), s.Status().Number
			b.CutStreams()
			<-lost
			for {
				again := s.StatusChanged()
				if l := s.Status(); l.Attached && l.Number == number+1 {
					break
				}
				<-again
			}
		}
	})
}
