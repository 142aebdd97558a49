package app

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/sources"
)

// unshown proves ownership in the recorded minute.
const unshown = "GUARD-4f1c99"

// minute records a minute that began an hour ago into the home of w: host-1 led for ten seconds,
// and host-2 three seconds later.
func minute(t *testing.T, w *world) (began time.Time) {
	t.Helper()
	began = time.Now().Add(-time.Hour)
	at := func(s int) sources.Instant {
		d := time.Duration(s) * time.Second
		return sources.Instant{Wall: began.Add(d), Mono: d}
	}
	ref := sources.Ref{Source: "leases", Space: "0", Name: "billing"}
	led := func(s int, owners ...string) sources.Change {
		p := &sources.Primitive{Ref: ref, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: uint64(len(owners)), At: at(s).Wall}
		for _, name := range owners {
			p.Owners = append(p.Owners, sources.Owner{ID: name, Label: name, Guard: unshown, NoExpiry: true})
		}
		return sources.Change{At: at(s).Wall, Synced: s == 0, Relists: s == 0, Alive: []string{""}, Set: []*sources.Primitive{p}}
	}
	limits := sources.DefaultThresholds()
	limits.NoLeader = time.Second
	var inputs []sources.Input
	for _, in := range []sources.Input{
		{At: at(0), Kind: sources.InputStarted, Thresholds: &limits},
		{At: at(0), Kind: sources.InputSources, Added: []sources.AddedSource{{Name: ref.Source, Type: "redis"}}},
		{At: at(0), Kind: sources.InputChange, Source: ref.Source, Change: led(0, "host-1")},
		{At: at(10), Kind: sources.InputChange, Source: ref.Source, Change: led(10)},
		{At: at(10), Kind: sources.InputNote, Note: &sources.Event{At: at(9).Wall.Round(0), Kind: sources.EventAction, Ref: ref, Detail: "release by ana: done after 1.0 s: it is free"}},
		{At: at(13), Kind: sources.InputChange, Source: ref.Source, Change: led(13, "host-2")},
		{At: at(60), Kind: sources.InputPublished},
	} {
		in.Seq = uint64(len(inputs) + 1)
		inputs = append(inputs, in, sources.Input{Seq: in.Seq + 1, At: in.At, Kind: sources.InputPublished})
	}
	log := &historytest.Log{}
	if err := log.Add(inputs); err != nil {
		t.Fatal(err)
	}
	store, path := recordtest.File(t, log)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, ".local/state/coordtop/"+historyName, string(b))
	return began
}

func TestARecordingIsToldReportedAndSentWithoutWhatIsNeverShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tty = true // for replay
	w.write(t, configFile, "title: prod-eu\nsources: [{name: leases, url: \"redis://127.0.0.1:1/0\"}]\n")
	for _, args := range [][]string{{"history"}, {"report"}, {"replay"}, {"record", "--export", "x"}} {
		if code := w.main(t.Context(), args...); code != exitError || !strings.Contains(w.stderr.String(), "nothing is recorded yet in "+w.home) || !strings.Contains(w.stderr.String(), "a demo keeps its recording to itself") {
			t.Fatalf("%v: exit code %d, %s", args, code, w.stderr)
		}
	}
	began := minute(t, w)
	audit := func(at time.Duration, id, stage, detail string) string {
		return fmt.Sprintf(`{"at":%q,"id":%q,"stage":%q,"user":"ana","host":"desk","action":"release","source":"leases","namespace":"0","name":"billing","owner_before":"host-1","reason":"stuck",%s}`+"\n",
			began.Add(at).Format(time.RFC3339Nano), id, stage, detail)
	}
	w.write(t, ".local/state/coordtop/"+auditName, audit(-time.Hour*9, "a", "before", `"call":"x"`)+audit(9*time.Second, "b", "before", `"call":"x"`)+
		audit(10*time.Second, "b", "after", `"result":"done","detail":"it is free"`)+audit(20*time.Second, "c", "before", `"call":"x"`))
	svg, export := filepath.Join(w.home, "t.svg"), filepath.Join(w.home, "x.coordtop")
	names := []string{"leases", "billing", "host-1", "host-2", "ana", "prod-eu"}
	var all strings.Builder
	for _, c := range []struct {
		args   string
		code   int
		says   []string
		masked bool
		rows   int // of actions
	}{
		{args: "history", says: []string{"host-1", "host-2", "3.0 s", "evicted by ana"}},
		{args: "history billing --gaps -o json --since 1d", says: []string{`"length_ms":{"min":3000,"max":3000}`}},
		{args: "history leases/biling", code: exitNotFound, says: []string{"did you mean leases/billing?"}},
		{args: "history leases --until 2020-01-01", code: exitError, says: []string{"nothing is recorded for this time, from 2019-12-31 18:00:00 to 2020-01-01 00:00:00 UTC: what is recorded is from 2"}},
		{args: "report --until 2020-01-01", code: exitError, says: []string{"nothing is recorded for this time"}},
		{args: "report --since 1d --until 30m", says: []string{"host-1"}, rows: 3},
		{args: "report --since 30m", code: exitError, says: []string{"nothing is recorded for this time"}},
		{args: "history --since=2h --until=2h", code: exitUsage, says: []string{"--since must be before --until: they are "}},
		{args: "history --since dusk", code: exitUsage, says: []string{"--since is no time: write 12:31, 12:31:05, yesterday 22:00, today, "}},
		{args: "record --until dusk --export " + export, code: exitUsage, says: []string{"--until is no time: write "}},
		{args: "report --svg " + svg, says: []string{"# Leadership in prod-eu", "| host-2, host-1 | 1 | 1 | 3.0 s - 59m | 3.0 s |", "| action | leases/billing | release by ana\\@<!-- -->desk \\(\"stuck\"\\): done after 1.0 s: it is free |", "| host-1 | released by force by ana\\@<!-- -->desk \\(\"stuck\"\\) | host-2 |", "](<t.svg>)",
			"release by ana\\@<!-- -->desk \\(\"stuck\"\\): no end is written |"}, rows: 2},
		{args: "record --mask --export " + export, says: []string{"what was recorded from " + began.Local().Format(time.DateTime) + " to "}, masked: true},
		{args: "history -o json --file " + export, says: []string{`"length_ms":{"min":10000,`, `"gap_before_ms":{"min":3000,"max":3000}`}, masked: true},
		{args: "report --file " + export, says: []string{"# Leadership in x.coordtop, ", " | 1 | 1 | 3.0 s |", "| action |"}, masked: true, rows: 1},
		{args: "replay --speed 64", code: exitUsage, says: []string{"--speed 64 is no speed: write one of 1, 2, 5, 10, 30, 60, 300, 1800, 3600"}},
		{args: "replay --speed -1", code: exitUsage, says: []string{"--speed -1 is no speed: "}},
		{args: "replay --help", says: []string{"N recorded seconds in one: one of 1, 2, 5, 10, 30, 60, 300, 1800, 3600"}},
		{args: "replay nope", code: exitError, says: []string{"there is no file nope"}},
		{args: "history --file " + w.write(t, "foreign", "a text"), code: exitError, says: []string{"not a recording of coordtop: name a file"}},
	} {
		w.stdout, w.stderr = newStream(), newStream()
		code := w.main(t.Context(), strings.Fields(c.args)...)
		out := w.stdout.String() + w.stderr.String()
		all.WriteString(out)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", c.args, code, c.code, out)
		}
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q:\n%s", c.args, want, out)
			}
		}
		if n := strings.Count(out, "| action |"); n != c.rows {
			t.Errorf("%s has %d actions, want %d:\n%s", c.args, n, c.rows, out)
		}
		for _, name := range names {
			if c.masked && strings.Contains(out, name) {
				t.Errorf("%s has the name %q:\n%s", c.args, name, out)
			}
		}
		for line := range strings.Lines(w.stdout.String()) {
			if strings.Contains(c.args, "json") && !json.Valid([]byte(line)) {
				t.Errorf("%s: no JSON: %s", c.args, line)
			}
		}
	}
	for _, path := range []string{svg, export, filepath.Join(w.home, ".local/state/coordtop", historyName)} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
		for _, name := range names {
			if path == export && strings.Contains(string(b), name) {
				t.Errorf("the masked export has the name %q", name)
			}
		}
	}
	if strings.Contains(all.String(), unshown) {
		t.Error("what proves ownership was recorded, or printed")
	}
}

func TestAReplayShowsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := minute(t, w).Add(30 * time.Second).Format(time.RFC3339Nano)
	cmd := command(t, "replay", "--at", at, filepath.Join(w.home, ".local/state/coordtop", historyName), "--ascii", "--plain")
	d := onDesk(t, cmd, true, "host-2")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != exitOK || strings.Contains(d.read.String(), unshown) {
		t.Errorf("exit code %d, %s: %s", code, cmd.Stderr, d.read)
	}
}

// TestARecordingThatCannotBeReadIsSaidToBeSo changes what stands in the header of the file, and behind
// it.
func TestARecordingThatCannotBeReadIsSaidToBeSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	minute(t, w)
	whole, err := os.ReadFile(filepath.Join(w.home, ".local/state/coordtop", historyName))
	if err != nil {
		t.Fatal(err)
	}
	const userVersion, applicationID, page = 60, 68, 4096
	for name, c := range map[string]struct {
		spoil func(b []byte)
		says  string
	}{
		"newer":                      {func(b []byte) { binary.BigEndian.PutUint32(b[userVersion:], 900_900) }, "it was made by a newer coordtop: read it with that version"},
		"damaged":                    {func(b []byte) { clear(b[page:]) }, "it is damaged: export it once more"},
		"cut":                        {func(b []byte) { clear(b[len(b)/2:]) }, "it is damaged: export it once more"},
		"of another, also in SQLite": {func(b []byte) { b[applicationID]++ }, "it is not a recording of coordtop: name a file"},
	} {
		b := bytes.Clone(whole)
		c.spoil(b)
		path := w.write(t, "spoiled", string(b))
		w.stdout, w.stderr = newStream(), newStream()
		if code := w.main(t.Context(), "history", "--file", path); code != exitError || !strings.Contains(w.stderr.String(), path+": "+c.says) || strings.Count(w.stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %s%s; want %q", name, code, w.stdout, w.stderr, c.says)
		}
	}
}

// TestACommandSaysWhoseClockItsTimesAreBy has recorders whose clocks differ from ours, from the store's, or not at all.
func TestACommandSaysWhoseClockItsTimesAreBy(t *testing.T) {
	t.Parallel()
	now := time.Now()
	run := func(id int64, host string, began, ended, ahead time.Duration) history.Run {
		return history.Run{ID: id, Host: host, Span: history.Span{From: now.Add(-began), To: now.Add(-ended)}, Ahead: ahead}
	}
	live := run(5, "eve", 10*time.Minute, 0, 0)
	live.Live, live.Now = true, now.Add(-2*time.Minute)
	var said strings.Builder
	p := &program{env: Environment{Stderr: &said}}
	p.sayClocks([]history.Run{
		run(1, "old", 9*time.Hour, 8*time.Hour, time.Hour), run(2, "ann", 50*time.Minute, 40*time.Minute, 5*time.Minute),
		run(3, "ann", 40*time.Minute, 30*time.Minute, 5*time.Minute), run(4, "good", 30*time.Minute, 10*time.Minute, 0), live,
	}, history.Span{From: now.Add(-time.Hour), To: now}, now)
	want := "coordtop: the clock of the recorder on ann was 5m00s ahead of the store's in run 2: the times that it recorded are wrong by that\n" +
		"coordtop: times are those of the recorder on eve, whose clock is 2m00s behind this machine's\n"
	if said.String() != want {
		t.Errorf("said:\n%s", said.String())
	}
}
