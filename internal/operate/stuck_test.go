//go:build unix

package operate_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/action"
	"coordtop/internal/operate"
)

// stick locks the audit: writing it takes for ever, as on a file system whose server is gone.
func (r *rig) stick() {
	r.t.Helper()
	f, err := os.Open(r.journal)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { // so that no goroutine is left in it
		_ = f.Close()
		r.close()
	})
}

func TestAnAuditThatDoesNotAnswerKeepsNothingFromBeingGivenBack(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	r.stick()
	closed := make(chan struct{})
	go func() { // ends with Close, which is waited for
		defer close(closed)
		r.close()
	}()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("Close waits for the audit")
	}
	if n := r.redis().Exists(t.Context(), election).Val(); n != 0 {
		t.Error("it was not given back")
	}
	missing := r.Unwritten()
	if len(missing) != 2 || !strings.Contains(missing[0], `"stage":"before"`) || !strings.Contains(missing[1], `"stage":"after"`) ||
		!strings.Contains(missing[1], `"action":"resign"`) {
		t.Errorf("told of as not written: %q", missing)
	}
}

func TestNothingIsSentWhereTheAuditDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.reaches(r.do(r.ask(action.Try, mutex)), action.Seen)
	r.stick()
	started := make(chan error, 1)
	go func() { // ends with Start, which is waited for
		_, err := r.Start(r.ask(action.Campaign, election))
		started <- err
	}()
	select {
	case err := <-started:
		if !errors.Is(err, operate.ErrNoAudit) {
			t.Errorf("it says %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Start waits for the audit")
	}
	if n := r.redis().Exists(t.Context(), election).Val(); n != 0 {
		t.Error("something was sent")
	}
}
