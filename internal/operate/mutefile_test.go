package operate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/internal/mute"
	"coordtop/sources"
)

// twoBoards are the mutes of two boards of one person.
func twoBoards(t *testing.T) (dir string, one, other *Mutes) {
	dir = filepath.Join(t.TempDir(), "coordtop")
	board := func() *Mutes {
		return NewMutes(NewAuditLog(filepath.Join(dir, "audit.jsonl"), Actor{User: "ana", Host: "jump"}))
	}
	return dir, board(), board()
}

func list(t *testing.T, s *Mutes) []mute.Mute {
	t.Helper()
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMutesAreSharedKeptAndInTheAudit(t *testing.T) {
	t.Parallel()
	dir, one, other := twoBoards(t)
	if len(list(t, one)) != 0 || len(list(t, other)) != 0 {
		t.Fatal("nothing is muted yet")
	}
	until := time.Now().Add(time.Hour)
	known := mute.Mute{Until: until, Text: "deploy", What: "app:a", Servers: map[string]string{"leases": "h:6379"}, Of: sources.Ref{Source: "leases", Space: "0", Name: "app:a"}, Pins: map[string]mute.Pin{"a": {Fault: "wait"}}}
	if err := one.Add(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	if err := other.Add(t.Context(), mute.Mute{Until: until, Filter: "kind=mutex"}); err != nil {
		t.Fatal(err)
	}
	all := list(t, one)
	if len(all) != 2 || all[0].By != "ana@jump" || all[0].ID == "" || all[0].Pins["a"].Fault != "wait" || all[1].Filter != "kind=mutex" {
		t.Fatalf("%+v", all)
	}
	fresh := []mute.Mute{{ID: all[1].ID, Pins: map[string]mute.Pin{"b": {Fault: "wait"}}}}
	if err := errors.Join(one.Pin(fresh), other.Pin(fresh)); err != nil {
		t.Fatal(err)
	}
	if got := list(t, other); len(got[1].Pins) != 1 {
		t.Errorf("a pin is kept once: %+v", got[1].Pins)
	}
	if err := one.End(t.Context(), all[0]); err != nil {
		t.Fatal(err)
	}
	if got := list(t, other); len(got) != 1 || got[0].ID != all[1].ID {
		t.Errorf("after the end of the first: %+v", got)
	}
	entries, err := one.audit.Entries()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range entries {
		e := &entries[i]
		if _, ok := e.Event(); ok {
			t.Error("a mute is no event of a row")
		}
		lines = append(lines, e.Action+" "+e.Ref.Source+" "+e.Detail)
	}
	want := []string{"acknowledge leases app:a until " + until.Local().Format(time.DateTime) + ": deploy",
		"mute  kind=mutex until " + until.Local().Format(time.DateTime), "unmute leases app:a: deploy"}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("the audit has\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, name := range []string{"mutes.json", "audit.jsonl"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
		t.Errorf("%v stays", left)
	}
}

func TestWhatHasEndedIsDroppedAndTooMuchRefused(t *testing.T) {
	t.Parallel()
	_, one, _ := twoBoards(t)
	add := func(m mute.Mute) error { return one.Add(t.Context(), m) }
	if err := errors.Join(add(mute.Mute{Until: time.Now().Add(-time.Second), Filter: "over"}), add(mute.Mute{Until: time.Now().Add(time.Hour), Filter: "b"})); err != nil {
		t.Fatal(err)
	}
	if err := one.Pin(nil); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(one.path()); err != nil || strings.Contains(string(text), "over") || len(list(t, one)) != 1 {
		t.Errorf("%s %v", text, err)
	}
	pins := map[string]mute.Pin{}
	for i := range 20_000 {
		pins[fmt.Sprint("app:lock:", i)] = mute.Pin{Fault: "no-leader", Pattern: "owner-gone"}
	}
	if err := add(mute.Mute{Until: time.Now().Add(time.Hour), Pins: pins}); !errors.Is(err, ErrTooManyMutes) || len(list(t, one)) != 1 {
		t.Errorf("%v, want a refusal that changes nothing", err)
	}
}

func TestADamagedOrStrangeFileOfMutesIsSaidAndNotReplaced(t *testing.T) {
	t.Parallel()
	_, one, _ := twoBoards(t)
	if err := one.Add(t.Context(), mute.Mute{Until: time.Now().Add(time.Hour), Filter: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(one.path(), []byte(`{"v":1,"mut`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := one.List(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
	if err := one.Pin(nil); err == nil {
		t.Error("it was replaced")
	}
	if err := one.Add(t.Context(), mute.Mute{Until: time.Now().Add(time.Hour), Filter: "b"}); err == nil {
		t.Error("one was added to a damaged file")
	}
	if lines, err := one.audit.Entries(); err != nil || len(lines) == 0 || !strings.Contains(lines[len(lines)-1].Detail, "not done") {
		t.Errorf("the audit says that it was muted: %+v, %v", lines, err)
	}
	if err := errors.Join(os.WriteFile(one.path(), []byte(`{"v":1,"mutes":[]}`), 0o600), os.Chmod(one.path(), 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := one.List(); err == nil || !strings.Contains(err.Error(), "not a file of ours alone") {
		t.Errorf("anybody could have written it: %v", err)
	}
	if err := errors.Join(os.Remove(one.path()), os.Symlink("/etc/passwd", one.path())); err != nil {
		t.Fatal(err)
	}
	if _, err := one.List(); err == nil {
		t.Error("a link is not followed")
	}
	if got, err := NewMutes(nil).List(); got != nil || err != nil {
		t.Error("without a folder nothing is muted")
	}
}

func TestBoardsThatMuteAtTheSameTimeLoseNothing(t *testing.T) {
	t.Parallel()
	_, one, other := twoBoards(t)
	var running sync.WaitGroup
	for i := range 20 {
		running.Go(func() {
			board := one
			if i%2 > 0 {
				board = other
			}
			if err := board.Add(t.Context(), mute.Mute{Until: time.Now().Add(time.Hour), Filter: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if n := len(list(t, one)); n != 20 {
		t.Errorf("%d mutes, want 20", n)
	}
}

func TestALockOfAnotherProcessThatStandsIsNotAwaitedForEver(t *testing.T) {
	t.Parallel()
	dir, one, _ := twoBoards(t)
	if err := one.Pin(nil); err != nil { // it makes the folder
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := lockFile(folder, 0); err != nil {
		t.Fatal(err)
	}
	if err := one.Pin(nil); err == nil || !strings.Contains(err.Error(), "another coordtop that does not go on") {
		t.Errorf("%v", err)
	}
}
