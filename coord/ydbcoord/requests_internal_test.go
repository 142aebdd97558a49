package ydbcoord

import (
	"errors"
	"testing"
)

func TestARequestThatEndsIsDoneBeforeItIsAcknowledged(t *testing.T) {
	t.Parallel()
	requests := table{open: map[uint64]*request{}, lanes: map[string][]*request{}, newest: map[string]*request{}}
	r := newRequest(verbAcquire, "m", nil)
	requests.add(r)
	told := false
	r.ack = func() {
		told = true
		select {
		case <-r.done:
		default:
			t.Error("a claim that was refused would seem to be in the queue")
		}
	}
	requests.end(r, errors.New("refused"))
	if !told {
		t.Error("the end does not acknowledge it")
	}
}
