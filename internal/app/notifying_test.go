package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coordtop/internal/app/logfile"
	"coordtop/internal/localserver"
	"coordtop/internal/mute"
)

// noticeJSON is what the tests read of a notification.
type noticeJSON struct {
	V           int
	Event, ID   string
	Environment string
	Text        string
	Finding     struct {
		Pattern, Severity, Title string
		Reasons                  []struct{ Text, Sure string }
		Rows                     []struct{ Name string }
	}
}

// receiver is an HTTP server that takes notifications.
type receiver struct {
	*httptest.Server
	fails atomic.Bool
	mu    sync.Mutex
	got   []noticeJSON
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		var one noticeJSON
		if err := json.Unmarshal(body, &one); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if r.fails.Load() {
			http.Error(w, q.URL.String(), http.StatusBadGateway)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, one)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) messages() []noticeJSON {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]noticeJSON(nil), r.got...)
}

// await waits until so many messages have come.
func (r *receiver) await(t *testing.T, n int) []noticeJSON {
	t.Helper()
	for range 300 {
		if got := r.messages(); len(got) >= n {
			return got
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Fatalf("%d messages came, want %d", len(r.messages()), n)
	return nil
}

func TestRecordTellsPeopleOnceWhatIsFound(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c, w, r := writer(t, server.Addr()), newWorld(t), newReceiver(t)
	mild := newReceiver(t)
	page := filepath.Join(w.home, "page")
	w.write(t, "hook", r.URL+"/s3cr3t-hook\n")
	w.write(t, configFile, fmt.Sprintf(`title: prod-eu
sources: [{name: leases, url: "redis://%s/0", labels: {env: prod}, watch: [{election: "app:leader:*"}]}]
notify:
  - {url_file: %s/hook, filter: "env=prod name~billing"}
  - {url: "%s/s3cr3t-mild", filter: mail, severity: worth a look}
  - {command: [sh, -c, "cat >> %s"], filter: name~billing}
`, server.Addr(), w.home, mild.URL, page))
	if code := w.main(t.Context(), "config", "check"); code != 0 {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	mutes := mutesOf(w)
	wrong := mutes.Add(t.Context(), mute.Mute{At: time.Now(), Until: time.Now().Add(time.Hour), Filter: "name~billing-muted", Servers: map[string]string{"leases": "redis://" + server.Addr() + "/0"}})
	set(t, c, "app:leader:billing", "host-1:4711", 2*time.Second)
	set(t, c, "app:leader:billing-muted", "host-3:4711", time.Hour)
	set(t, c, "app:leader:other", "host-1:4711", time.Hour)
	start := func() (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int, 1)
		go func() { done <- w.main(ctx, "record") }() // received below
		return func() {
			cancel()
			if code := <-done; code != 0 {
				t.Errorf("exit code %d: %s", code, w.stderr)
			}
		}
	}
	end := start()
	got := r.await(t, 1)[0]
	f := got.Finding
	if got.V != 1 || got.Event != "found" || got.ID == "" || got.Environment != "prod-eu" || f.Severity != "needs a person" ||
		len(f.Rows) != 1 || f.Rows[0].Name != "app:leader:billing" || len(f.Reasons) == 0 ||
		!strings.HasPrefix(got.Text, "prod-eu: app:leader:billing has no leader. Why: ") {
		t.Errorf("%+v", got)
	}
	<-time.After(time.Second) // the command ends
	wrong = errors.Join(wrong, c.Do(t.Context(), "DEL", "app:leader:billing-muted").Err())
	end()
	end = start()
	<-time.After(5 * time.Second)
	r.fails.Store(true)
	set(t, c, "app:leader:billing-2", "host-2:4711", time.Second)
	w.stderr.await(t, func(s string) bool {
		return strings.Contains(s, "coordtop: notify[0]: its URL answers 502 Bad Gateway; trying again")
	})
	r.fails.Store(false)
	got = r.await(t, 2)[1]
	if got.Event != "found" || got.Finding.Rows[0].Name != "app:leader:billing-2" {
		t.Errorf("%+v", got)
	}
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "coordtop: all notifications are delivered again") })
	end()
	if list, err := mutes.List(); err != nil || wrong != nil || len(list) != 1 || len(list[0].Pins) != 1 {
		t.Errorf("what was muted for the first time is not kept: %+v, %v, %v", list, err, wrong)
	}
	if n := len(r.messages()) + len(mild.messages()); n != 2 {
		t.Errorf("%d messages came", n)
	}
	paged, err := os.ReadFile(page)
	if err != nil || strings.Count(string(paged), "\n") != 2 || !strings.Contains(string(paged), `"text":"prod-eu: app:leader:billing has no leader`) {
		t.Errorf("the command got %s, %v", paged, err)
	}
	state := filepath.Join(w.home, ".local", "state", "coordtop")
	said := w.stderr.String() + w.stdout.String()
	for _, name := range []string{logfile.Name, "notified.json"} {
		data, err := os.ReadFile(filepath.Join(state, name))
		if err != nil {
			t.Error(err)
		}
		said += string(data)
	}
	if strings.Contains(said, "s3cr3t") || strings.Contains(said, strings.TrimPrefix(r.URL, "http://")) {
		t.Errorf("a URL was said: %s", said)
	}
}

func TestAFilterOfARuleThatCannotBeReadIsAMistakeOfTheConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write(t, configFile, `sources: [{name: leases, url: "redis://127.0.0.1:1/0", labels: {env: prod}}]
notify:
  - {url: "https://h", filter: "env=prod wait>30s"}
  - {url: "https://h", filter: "owner>5"}
  - {url: "https://h", filter: "kind="}
  - {url: "https://h", filter: "team=x"}
  - {command: [no-such-program-here]}
  - {url_env: NO_SUCH_HOOK}
metrics: {names: "kind=", series: 0}
`)
	if code := w.main(t.Context(), "config", "check"); code != 2 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		":4:32: notify[1].filter: owner is a text", ":5:32: notify[2].filter: kind= what?", ":6:32: notify[3].filter: no field or label team",
		":7:15: notify[4].command: there is no such program", ":8:15: notify[5].url_env: reading a secret: $NO_SUCH_HOOK is not set",
		":9:18: metrics.names: kind= what?", ":9:35: metrics.series: must be a whole number from 1 to 100000",
	} {
		if !strings.Contains(w.stderr.String(), path+want) {
			t.Errorf("lacks %q: %s", want, w.stderr)
		}
	}
}
