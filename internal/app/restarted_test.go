package app

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/localserver"
)

// pastLine has the fields of a line of `history -o json` that these tests look at.
type pastLine struct {
	What, Name, Cause string
	Owner             *struct{ ID, Label string }
	Start             time.Time
	End               *time.Time
	EndKnown          string     `json:"end_known"`
	EndAfter          *time.Time `json:"end_after"`
}

// pastOf reads the history of what a home has recorded.
func pastOf(t *testing.T, home string, args ...string) (lines []pastLine) {
	t.Helper()
	w := newWorld(t)
	w.home = home
	w.main(t.Context(), append([]string{"history", "-o", "json"}, args...)...) // it fails where nothing is recorded yet
	for text := range strings.Lines(w.stdout.String()) {
		var l pastLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lines = append(lines, l)
	}
	return lines
}

// awaitPast reads the history until it has such a line.
func awaitPast(t *testing.T, home, what string, is func(l *pastLine) bool) pastLine {
	t.Helper()
	for deadline := time.Now().Add(longEnough); ; {
		lines := pastOf(t, home)
		for i := range lines {
			if is(&lines[i]) {
				return lines[i]
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not in the history: %+v", what, lines)
		}
	}
}

// TestWhatEndsWhileNobodyRecordsHasAnEnd ends an ownership between two lives of a recorder, by force where that is
// possible. The second one lists nothing of it: it is free from then on, and the audit says when it ended, and why.
func TestWhatEndsWhileNobodyRecordsHasAnEnd(t *testing.T) {
	t.Parallel()
	byForce := func(exactly string) func(t *testing.T, home, url string) {
		return func(t *testing.T, home, url string) {
			w := newWorld(t)
			w.home = home
			url += exactly
			if code, line := releases(t, w, url, guardOf(t, url), "--reason", "ticket 7", "--write", "--yes"); code != 0 {
				t.Fatalf("exit code %d, %+v: %s", code, line, w.stderr)
			}
		}
	}
	for name, prepare := range map[string]func(t *testing.T) (url string, end func(t *testing.T, home, url string)){
		"redis": func(t *testing.T) (string, func(t *testing.T, home, url string)) {
			s := localserver.RedisForTest(t, localserver.RedisOptions{})
			set(t, writer(t, s.Addr()), "app:lock:x", "host-1:1", 0)
			return "redis://" + s.Addr() + "/0", byForce("?mutex=app:lock:x")
		},
		"postgres": func(t *testing.T) (string, func(t *testing.T, home, url string)) {
			s := localserver.PostgresForTest(t, localserver.PostgresOptions{})
			locks(t, s.URL())
			return s.URL(), byForce("&mutex=4242")
		},
		"dflockd": func(t *testing.T) (string, func(t *testing.T, home, url string)) {
			_, url := dflockd(t, dflocktest.Options{})
			h := holds(t, "acquire", "--write", "--yes", url+"?mutex=m")
			h.line(1, "acquired")
			return url, func(*testing.T, string, string) { h.types("resign"); h.ends(exitOK) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, end := prepare(t)
			home := t.TempDir()
			recorder := func(body func()) {
				w := newWorld(t)
				w.home = home
				recordBeside(t, w, url, body)
			}
			recorder(func() {
				awaitPast(t, home, "the owner", func(l *pastLine) bool { return l.What == "term" && l.End == nil })
			})
			ended := time.Now()
			end(t, home, url)
			over := time.Now()
			recorder(func() {
				term := awaitPast(t, home, "the end", func(l *pastLine) bool {
					return l.What == "term" && l.EndKnown == "seen" && (name == "dflockd" || l.Cause == "evicted")
				})
				if term.EndAfter == nil || term.EndAfter.After(over) || term.End.Before(ended) || name != "dflockd" && term.EndAfter.Before(ended) {
					t.Errorf("it ended between %v and %v, and is said to have ended in (%v, %v]", ended, over, term.EndAfter, term.End)
				}
				for _, l := range pastOf(t, home) {
					if l.What == "unobserved" && l.End == nil {
						t.Errorf("it is not observed from %v on", l.Start)
					}
				}
			})
			w := newWorld(t)
			w.home = home
			if w.main(t.Context(), "report"); name != "dflockd" && !strings.Contains(w.stdout.String(), "ended by force by ") {
				t.Errorf("the report has no cause: %s", w.stdout)
			}
		})
	}
}

// TestABoardKnowsAfterARestartWhatItKnewBefore ends an ownership by force beside a board, which is then closed and
// opened again: what ended, why and who did it stand on it as before, on the list of events too.
func TestABoardKnowsAfterARestartWhatItKnewBefore(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, s.Addr()), "app:lock:x", "host-1:1", 0)
	home, url := t.TempDir(), "redis://"+s.Addr()+"/0?mutex=app:lock:x"
	board := func() *sight {
		cmd := command(t, url)
		cmd.Env = append(cmd.Env, "HOME="+home)
		return inSight(t, cmd)
	}
	known := []string{"ended by force by ", `"ticket 7"`}
	first := board().await("app:lock:x", "host-1:1")
	awaitPast(t, home, "the owner", func(l *pastLine) bool { return l.What == "term" && l.End == nil })
	w := newWorld(t)
	w.home = home
	if code, line := releases(t, w, url, guardOf(t, url), "--reason", "ticket 7", "--write", "--yes"); code != 0 {
		t.Fatalf("exit code %d, %+v: %s", code, line, w.stderr)
	}
	first.await(known...).keys("5").await("EVENTS", "release by ", "host-1:1")
	first.keys("qq")
	if code := ends(t, first.cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	again := board().await("app:lock:x", "free").await(known...)
	again.keys("5").await("EVENTS", "release by ", "host-1:1", "coordtop began to record")
	again.keys("qq")
	if code := ends(t, again.cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
