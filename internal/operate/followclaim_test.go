package operate_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
)

func TestWhatOtherCoordtopsDidIsToldOnceAtTheTimeOfItsSending(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		board, other := operate.NewAuditLog(path, operate.Actor{User: "bo"}), operate.NewAuditLog(path, operate.Actor{User: "ana", Host: "desk"})
		write := func(l *operate.AuditLog, r operate.Record) {
			t.Helper()
			if err := l.Write(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
		release := func(id, stage, result string) operate.Record {
			r := operate.Record{ID: id, Stage: stage, Action: "release", Source: "leases", Kind: "mutex", Name: "job", OwnerBefore: "o", LabelBefore: "host-1", Reason: "stuck"}
			if stage == operate.After {
				r.Result, r.Detail, r.OwnerAfter = result, "released by force", "p"
			}
			return r
		}
		write(other, release("1", operate.Before, ""))
		write(other, release("1", operate.After, "done")) // long before
		time.Sleep(time.Hour)
		since := time.Now()
		time.Sleep(time.Minute)
		write(other, release("2", operate.Before, ""))
		sent := time.Now()
		time.Sleep(27 * time.Second)
		write(other, release("2", operate.After, "done"))
		write(other, release("3", operate.Before, "")) // it may still run
		write(other, operate.Record{ID: "4", Stage: operate.Only, Action: "arm", Source: "leases"})
		about := since.Add(time.Second)
		write(other, operate.Record{ID: "5", Stage: operate.Only, Action: action.NoteAction, Detail: "deploy 7", About: about, Recording: "here"})
		write(other, operate.Record{ID: "6", Stage: operate.Only, Action: action.NoteAction, Detail: "elsewhere", Recording: "there"})

		ctx, cancel := context.WithCancel(t.Context())
		var got []sources.Event
		done := make(chan error, 1)
		go func() { // received below
			done <- board.Follow(ctx, since, func(a *action.AuditEntry, e *sources.Event) bool {
				return e.Kind == sources.EventAction || a.Recording == "here"
			}, func(e sources.Event) { got = append(got, e) })
		}()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if len(got) != 2 {
			t.Fatalf("told: %+v", got)
		}
		want := sources.Event{Kind: sources.EventAction, RefKind: sources.KindMutex, Cause: sources.CauseEvicted, How: sources.Ours, At: sent.UTC(),
			Ref: sources.Ref{Source: "leases", Name: "job"}, Owner: sources.OwnerRef{ID: "p"}, Previous: sources.OwnerRef{ID: "o", Label: "host-1"},
			Detail: "release by ana@desk (\"stuck\"): done after 27 s: released by force"}
		if n := got[0]; n.Kind != sources.EventNote || n.Detail != "deploy 7" || !n.At.Equal(about) {
			t.Errorf("the note is %+v", n)
		}
		if a := got[1]; !a.At.Equal(want.At) {
			t.Errorf("it was done at %v, want %v", a.At, want.At)
		} else if a.At = want.At; a != want {
			t.Errorf("told\n%+v, want\n%+v", a, want)
		}
		write(other, release("3", operate.After, "failed"))
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 3 || got[2].Cause != sources.CauseUnknown || got[2].Detail != "release by ana@desk (\"stuck\"): failed: released by force after 5.0 s" {
			t.Errorf("told: %+v", got[2:])
		}
		cancel()
		<-done
	})
}
