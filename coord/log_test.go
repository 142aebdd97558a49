package coord_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
)

// logTo makes the options write lines without a time to b.
func logTo(b *bytes.Buffer) coord.SessionOptions {
	o := options()
	o.Log = slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "fence" || a.Key == "owner" {
			return slog.Attr{}
		}
		return a
	}}))
	return o
}

func TestTheLogSaysWhatBecomesOfACandidate(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var b bytes.Buffer
		lost := make(chan struct{})
		c := coord.NewCandidate(w.mem.NewDriver(nil), logTo(&b), "boss", coord.LeadOptions{OnLost: func(error) { close(lost) }})
		stop := w.run(c)
		time.Sleep(time.Second)
		w.mem.Expire(coord.KindElection, "boss")
		<-lost
		_ = stop()
		const open, begins, ends = "level=INFO msg=\"coordination session\" state=open\n",
			"level=INFO msg=\"coordination term begins\" election=boss\n", "level=WARN msg=\"coordination term ends\" election=boss error="
		for _, want := range []string{"state=opening\n", open, begins, ends, "state=ended"} {
			if !strings.Contains(b.String(), want) {
				w.Errorf("no %q in\n%s", want, b.String())
			}
		}
	})
}

func TestTheLogSaysWhyAClaimWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		d, _ := troubled(1, errDown)
		s := openStub(t, d, logTo(&b))
		if _, err := s.Mutex("job", coord.MutexOptions{}).Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"level=WARN msg=\"coordination claim waits\" kind=mutex name=job retry=", "error=\"the server is down\"", "level=INFO msg=\"coordination claim waits\" kind=mutex name=job\n",
			"level=INFO msg=\"coordination session\" state=ended error=",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	})
}
