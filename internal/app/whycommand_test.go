package app

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// whyAnswer is what the tests read of the JSON of why.
type whyAnswer struct {
	Recorded bool
	Findings []struct {
		Pattern, Title, Severity string
		Reasons                  []struct{ Text, Sure string }
		Steps                    []struct {
			Text    string
			Command *string
		}
		Rows []struct{ Name, Fault string }
	}
}

func why(t *testing.T, w *world, want int, args ...string) (a whyAnswer) {
	t.Helper()
	w.stdout, w.stderr = newStream(), newStream()
	code := w.main(t.Context(), append([]string{"why", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(w.stdout.String()), &a); err != nil || code != want {
		t.Fatalf("%q: exit code %d, want %d, %v: %s%s", args, code, want, err, w.stdout, w.stderr)
	}
	return a
}

func TestWhyExplainsAnInstantOfTheRecording(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := minute(t, w)
	at := func(d time.Duration) string { return began.Add(d).Local().Format("2006-01-02 15:04:05.999") }
	a := why(t, w, int(exitFailed), "--at", at(12500*time.Millisecond))
	if len(a.Findings) != 1 || a.Findings[0].Pattern != "leader-gone" || !a.Recorded || len(a.Findings[0].Rows) != 1 {
		t.Fatalf("two seconds after the end: %+v", a)
	}
	sure := ""
	for _, r := range a.Findings[0].Reasons {
		sure += r.Sure + " "
	}
	if text := a.Findings[0].Reasons[0].Text; sure != "told possible possible possible " || !strings.HasPrefix(text, "host-1 owned it until ") {
		t.Errorf("nobody told why it ended: %+v", a.Findings[0].Reasons)
	}
	if a = why(t, w, int(exitFailed), "--at", at(20*time.Second)); len(a.Findings) != 1 || a.Findings[0].Pattern != "no-end" {
		t.Errorf("under the next leader, whose lease has no end: %+v", a)
	}
	if a = why(t, w, exitNotFound, "--at", at(12500*time.Millisecond), "ledger"); len(a.Findings) != 0 {
		t.Errorf("of another source: %+v", a)
	}
	w.stderr = newStream()
	if code := w.main(t.Context(), "why", "--at", at(-time.Hour)); code == 0 || !strings.Contains(w.stderr.String(), ", at "+began.Add(-time.Hour).Local().Format(time.DateTime)+": what is recorded is from ") {
		t.Errorf("before the recording: exit code %d: %s", code, w.stderr)
	}
	w.stderr = newStream()
	if code := w.main(t.Context(), "why", "--at", "some time"); code != 2 || !strings.Contains(w.stderr.String(), "--at") {
		t.Errorf("exit code %d: %s", code, w.stderr)
	}
}

func TestWhyExplainsWhatIsWrongNowAndSaysThatNothingIsRecorded(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	redis, url := writer(t, server.Addr()), "redis://"+server.Addr()+"/0?mutex=job&election=lead"
	set(t, redis, "lead", "host-1:7", time.Hour)
	set(t, redis, "job", "host-1:7", time.Hour)
	w := newWorld(t)
	if a := why(t, w, 0, url); len(a.Findings) != 0 || a.Recorded {
		t.Errorf("all is well, and nothing is recorded: %+v", a)
	}
	if err := redis.Persist(t.Context(), "job").Err(); err != nil {
		t.Fatal(err)
	}
	a := why(t, w, int(exitFailed), url)
	if len(a.Findings) != 1 || a.Findings[0].Pattern != "no-end" || len(a.Findings[0].Rows) != 1 || a.Findings[0].Rows[0].Name != "job" {
		t.Fatalf("a lock without an end: %+v", a)
	}
	steps := a.Findings[0].Steps
	if len(steps) == 0 || steps[len(steps)-1].Command == nil || !strings.HasPrefix(*steps[len(steps)-1].Command, "coordtop release ") {
		t.Fatalf("what to do: %+v", steps)
	}
	w.stdout, w.stderr = newStream(), newStream()
	code := w.main(t.Context(), "why", url)
	if out := w.stdout.String(); code != int(exitFailed) || !strings.Contains(out, "host-1:7 owns it") || !strings.Contains(w.stderr.String(), "nothing is recorded") {
		t.Errorf("as text: exit code %d: %s%s", code, out, w.stderr)
	}
	do := strings.Fields(strings.ReplaceAll(*steps[len(steps)-1].Command, "'", ""))
	w.stderr = newStream()
	if code := w.main(t.Context(), append(do[1:], "--write", "--yes", "--reason", "the test")...); code != 0 || redis.Exists(t.Context(), "job").Val() != 0 {
		t.Errorf("%q, where no config names the source: exit code %d: %s", do, code, w.stderr)
	}
	server.Stop(t.Context())
	if a := why(t, w, int(exitFailed), "--timeout", "1s", url); len(a.Findings) != 1 || a.Findings[0].Pattern != "server-silent" {
		t.Errorf("of a server that is gone: %+v", a)
	}
}
