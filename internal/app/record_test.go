package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/localserver"
)

func TestRecordSaysWhereItRecordsAndWritesAStretchToAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "record", "redis://127.0.0.1:1/0") }() // received below
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into "+w.home) })
	second := newWorld(t)
	second.home = w.home
	with, stop := context.WithCancel(t.Context())
	defer stop()
	other := make(chan int, 1)
	go func() { other <- second.main(with, "record", "redis://127.0.0.1:1/0") }() // received below
	second.stderr.await(t, func(s string) bool { return strings.Contains(s, "another coordtop records into it") })
	stop()
	cancel()
	if a, b := <-done, <-other; a != 0 || b != 0 {
		t.Fatalf("exit codes %d and %d: %s%s", a, b, w.stderr, second.stderr)
	}
	file := filepath.Join(w.home, "x.coordtop")
	for _, want := range []int{0, 1} { // the second time it is there
		if code := w.main(t.Context(), "record", "--export", file, "--since", "1h", "--mask"); code != want {
			t.Fatalf("exporting: exit code %d, want %d: %s", code, want, w.stderr)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.home, ".coordtop-export-*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	s := sqlite.NewReader(file)
	runs, err := s.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Live || runs[0].Host != "masked" {
		t.Errorf("runs %+v, %v", runs, err)
	}
	if last, err := history.LastKnown(t.Context(), s, nil, nil); err != nil || last.Seq == 0 {
		t.Errorf("the end of the export: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheReportOfAFileHasTheTitleOfItsEnvironment(t *testing.T) {
	t.Parallel()
	w, reader := newWorld(t), newWorld(t)
	w.write(t, configFile, "title: prod-eu\nsources:\n  - {name: leases, url: redis://127.0.0.1:1/0}\n")
	reader.write(t, configFile, "title: my-laptop\nsources:\n  - {name: leases, url: redis://127.0.0.1:1/0}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "record") }() // received below
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into "+w.home) })
	cancel()
	if code := <-done; code != 0 {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	for title, args := range map[string][]string{"prod-eu": nil, "masked.coordtop": {"--mask"}} {
		file := filepath.Join(w.home, map[bool]string{true: "plain.coordtop", false: "masked.coordtop"}[args == nil])
		if code := w.main(t.Context(), append([]string{"record", "--export", file}, args...)...); code != 0 {
			t.Fatalf("exporting: exit code %d: %s", code, w.stderr)
		}
		own := newWorld(t)
		own.home = reader.home
		if code := own.main(t.Context(), "report", "--file", file); code != 0 || !strings.HasPrefix(own.stdout.String(), "# Leadership in "+title+", ") {
			t.Errorf("exit code %d, want the title %q: %s%s", code, title, own.stderr, own.stdout)
		}
	}
	own := newWorld(t)
	own.home = w.home
	if code := own.main(t.Context(), "report"); code != 0 || !strings.HasPrefix(own.stdout.String(), "# Leadership in prod-eu, ") {
		t.Errorf("exit code %d: %s%s", code, own.stderr, own.stdout)
	}
}

func TestNothingIsRecordedWhereTheConfigSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, configFile, "sources: [{url: \"redis://127.0.0.1:1/0\"}]\nhistory: {off: true}\n")
	for _, args := range [][]string{{"record"}, {"record", "redis://127.0.0.1:1/0"}, {"record", "--export", "x"}} {
		if code := w.main(t.Context(), args...); code != 2 || !strings.Contains(w.stderr.String(), "history.off") {
			t.Errorf("%v: exit code %d, %s", args, code, w.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(w.home, ".local", "state", "coordtop", historyName)); !os.IsNotExist(err) {
		t.Errorf("the recording: %v, want none", err)
	}
}

func TestAnExportThatCannotBeMadeIsRefusedBeforeAnythingIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, args := range [][]string{
		{"record", "--export", ""}, {"record", "--export", "x", "--since", "0"},
		{"record", "--mask"}, {"record", "--export", "x", "redis://127.0.0.1:1/0"},
	} {
		if code := w.main(t.Context(), args...); code != 2 {
			t.Errorf("%q: exit code %d, want 2: %s", args, code, w.stderr)
		}
	}
}

func TestGetKnowsFromTheRecordingSinceWhenSomebodyOwns(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "job", "host-1", time.Hour)
	w, url := newWorld(t), "redis://"+server.Addr()+"/0?mutex=job"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "record", url) }() // received below
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into "+w.home) })
	for look := newWorld(t); !strings.Contains(look.stdout.String(), "host-1"); {
		look.home = w.home
		look.main(t.Context(), "history")
	}
	cancel()
	<-done
	since := func(w *world) (at time.Time) {
		t.Helper()
		code := w.main(t.Context(), "get", url, "-o", "json")
		var got struct {
			Primitives []struct{ Owners []struct{ Since time.Time } }
		}
		if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil || code != 0 || len(got.Primitives) != 1 || len(got.Primitives[0].Owners) != 1 {
			t.Fatalf("exit code %d, %v: %s%s", code, err, w.stdout, w.stderr)
		}
		return got.Primitives[0].Owners[0].Since
	}
	over := time.Now()
	w.stdout, w.record = newStream(), true
	if at := since(w); !at.Before(over) {
		t.Errorf("owned since %v, which is not before the recording ended, %v", at, over)
	}
	other := newWorld(t)
	other.record = true
	if at := since(other); at.Before(over) {
		t.Errorf("without a recording it is owned since %v, before the look", at)
	}
	w.write(t, ".local/state/coordtop/"+historyName, "damaged")
	w.stdout = newStream()
	if at := since(w); at.Before(over) {
		t.Errorf("with a damaged recording it is owned since %v, before the look", at)
	}
}

// TestGetMissesAnElectionThatOnlyTheRecordingKnows loses a leader while it is recorded and another one while
// nobody looks. A pattern that selects neither misses none.
func TestGetMissesAnElectionThatOnlyTheRecordingKnows(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	redis := writer(t, server.Addr())
	set(t, redis, "app:leader:a", "host-1", time.Hour)
	set(t, redis, "app:leader:b", "host-2", time.Hour)
	w := newWorld(t)
	config := func(pattern string) {
		w.write(t, configFile, "thresholds: {no_leader: 1ms}\nsources:\n  - {name: leases, url: redis://"+server.Addr()+"/0, watch: [{election: \""+pattern+"\"}]}\n")
	}
	config("app:leader:*")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "record") }() // received below
	recorded := func(what string) {
		t.Helper()
		for look := newWorld(t); !strings.Contains(look.stdout.String(), what); {
			look.home = w.home
			look.main(t.Context(), "history")
		}
	}
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into "+w.home) })
	recorded("host-2")
	if err := redis.Del(t.Context(), "app:leader:a").Err(); err != nil {
		t.Fatal(err)
	}
	recorded("released")
	missed := func(when string, want int, names ...string) {
		t.Helper()
		look := newWorld(t)
		look.home, look.record = w.home, true
		code := look.main(t.Context(), "get", "--fail-on", "no-leader", "--timeout", "1m", "-o", "json")
		var got struct {
			Primitives []struct {
				Name, State string
				Before      []struct{ Label string }
			}
		}
		if err := json.Unmarshal([]byte(look.stdout.String()), &got); err != nil || code != want {
			t.Fatalf("%s: exit code %d, %v: %s%s", when, code, err, look.stdout, look.stderr)
		}
		var found []string
		for _, p := range got.Primitives {
			if p.State == "no leader" && len(p.Before) > 0 {
				found = append(found, p.Name+" "+p.Before[0].Label)
			}
		}
		if strings.Join(found, ", ") != strings.Join(names, ", ") {
			t.Errorf("%s: missed %q, want %q", when, found, names)
		}
	}
	missed("while it is recorded", int(exitFailed), "app:leader:a host-1")
	cancel()
	<-done
	if err := redis.Del(t.Context(), "app:leader:b").Err(); err != nil {
		t.Fatal(err)
	}
	missed("after the recorder ended", int(exitFailed), "app:leader:a host-1", "app:leader:b host-2")
	config("other:*")
	missed("with another pattern", 0)
}

func TestRecordSaysThatItsFileWasMovedAndGoesOn(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "job", "host-1", time.Hour)
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "record", "redis://"+server.Addr()+"/0?mutex=job") }() // received below
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into "+w.home) })
	path := filepath.Join(w.home, ".local", "state", "coordtop", historyName)
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	w.stderr.await(t, func(s string) bool {
		return strings.Contains(s, "it was renamed, replaced or removed; the recording goes on in another file")
	})
	for look := newWorld(t); !strings.Contains(look.stdout.String(), "host-1"); {
		look.home = w.home
		look.main(t.Context(), "history")
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d: %s", code, w.stderr)
	}
}

// got returns what an address answers.
func got(t *testing.T, url string) (status int, text string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// TestMetricsAreServedByWhoRecords has two recorders, of which the second shows only itself until the first ends.
func TestMetricsAreServedByWhoRecords(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "app:leader:billing", "host-1", time.Hour)
	text := "sources:\n  - {name: leases, url: " + server.URL() + ", watch: [{election: 'app:leader:*'}]}\nmetrics: {names: kind=election}\n"
	serving := regexp.MustCompile(`serving (http://127\.0\.0\.1:\d+)/metrics`)
	first, second := newWorld(t), newWorld(t)
	second.home = first.home
	first.write(t, configFile, text)
	var urls []string
	var stops []func()
	for _, w := range []*world{first, second} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int, 1)
		go func() { done <- w.main(ctx, "record", "--listen", "0") }() // received below
		stops = append(stops, sync.OnceFunc(func() {
			cancel()
			if code := <-done; code != 0 {
				t.Errorf("exit code %d: %s", code, w.stderr)
			}
		}))
		defer stops[len(stops)-1]()
		w.stderr.await(t, func(s string) bool {
			return serving.MatchString(s) && (strings.Contains(s, "recording into") || strings.Contains(s, "another coordtop records into it"))
		})
		urls = append(urls, serving.FindStringSubmatch(w.stderr.String())[1])
	}
	const led = `coordtop_has_leader{backend="redis",kind="election",name="app:leader:billing",source="leases",space="0"} 1`
	await := func(url, want string) (body string) {
		t.Helper()
		for ctx, tick := t.Context(), time.NewTicker(50*time.Millisecond); ctx.Err() == nil; <-tick.C {
			if _, body = got(t, url+"/metrics"); strings.Contains(body, want) {
				return body
			}
		}
		return body
	}
	await(urls[0], led)
	if body := await(urls[1], "coordtop_standby 1"); strings.Contains(body, "leases") || strings.Contains(body, "recorder_up") {
		t.Errorf("the one that waits serves\n%s", body)
	}
	if status, text := got(t, urls[1]+"/readyz"); status != 200 || !strings.HasPrefix(text, "standing by") {
		t.Errorf("the one that waits: %d %s", status, text)
	}
	stops[0]()
	await(urls[1], led)
	if body := await(urls[1], "coordtop_recorder_up 1"); strings.Contains(body, "host-1") {
		t.Errorf("it shows the owner:\n%s", body)
	}
	w := newWorld(t)
	if code := w.main(t.Context(), "watch", "--listen", strings.TrimPrefix(urls[1], "http://"), server.URL()); code != 1 || !strings.Contains(w.stderr.String(), "another program does: choose another port") {
		t.Errorf("a port that is taken: exit code %d: %s", code, w.stderr)
	}
	if code := w.main(t.Context(), "watch", "--listen", "::", server.URL()); code != exitUsage {
		t.Errorf("no address: exit code %d: %s", code, w.stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- w.main(ctx, "watch", "--listen", "0.0.0.0:0", server.URL()) }() // received below
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "to whoever can connect: there is no login") })
	cancel()
	<-done
}
