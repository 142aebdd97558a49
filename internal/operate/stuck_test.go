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

// stick puts a pipe that nobody reads in the place of the audit: opening it takes for ever,
// as on a file system whose server is gone.
func (r *rig) stick() {
	r.t.Helper()
	if err := errors.Join(os.Remove(r.journal), unix.Mkfifo(r.journal, 0o600)); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { // so that no goroutine is left in it
		reader, err := os.OpenFile(r.journal, os.O_RDWR, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		r.close()
		_ = reader.Close()
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
