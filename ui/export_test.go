package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/uitest"
)

// namedRows writes the names of rows: an Exporter.
func namedRows(w io.Writer, f Form, _ *sources.State, rows []*sources.Row, _ time.Time) error {
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%d %s\n", f, r.Name); err != nil {
			return err
		}
	}
	return nil
}

func exporting(environ []string, names ...string) *driver {
	var prims []*sources.Primitive
	for _, n := range names {
		prims = append(prims, uitest.Led(n, "owner of "+n, noon()))
	}
	return drive(newTestFeed(uitest.State(noon(), prims...)), Options{Width: 160, Height: 40, Environ: environ, Export: namedRows,
		Command: func(r *sources.Row, words ...string) string { return strings.Join(append(words, r.Name), " ") }})
}

// clipboard is the text that a command asks the terminal to copy; "" if it does not.
func clipboard(cmd tea.Cmd) string {
	if cmd == nil {
		return ""
	}
	msg := reflect.ValueOf(cmd())
	if msg.Kind() == reflect.Slice && msg.Len() == 1 { // a batch of one
		return clipboard(msg.Index(0).Interface().(tea.Cmd))
	}
	if msg.Kind() != reflect.String {
		return ""
	}
	return msg.String()
}

func TestTheMenuOfCopiesHasTheCommandThatDrillsAnElection(t *testing.T) {
	t.Parallel()
	job := uitest.Led("job", "host-1:1", noon())
	job.Kind = sources.KindMutex
	for want, p := range map[string]*sources.Primitive{
		"drill --write --yes free": uitest.Leaderless("free", noon()), "drill --how release --rounds 3 a": uitest.Led("a", "host-1:1", noon()), "": job,
	} {
		d := drive(newTestFeed(uitest.State(noon(), p)), Options{Width: 160, Height: 40,
			Command: func(r *sources.Row, words ...string) string { return strings.Join(append(words, r.Name), " ") }})
		d.press("y")
		if got := clipboard(d.send(key("d"))); got != want {
			t.Errorf("of %s: %q", p.Name, got)
		}
		if want == "" {
			want = "it is no election"
		}
		d.shows(t, want)
	}
}

func TestCopyAsksTheTerminalAndSaysThatItCannotKnow(t *testing.T) {
	t.Parallel()
	for key_, want := range map[string]string{"n": "a", "o": "owner of a", "j": "1 a", "c": "get a", "d": "drill --how release --rounds 3 a"} {
		d := exporting(nil, "a", "b")
		d.press("y")
		d.shows(t, "copy  n name")
		if got := clipboard(d.send(key(key_))); got != want {
			t.Errorf("%s copies %q", key_, got)
		}
		d.shows(t, "does not say whether it did")
		d.showsNot(t, "tmux")
	}
	d := exporting([]string{"TERM=tmux-256color", "TMUX=/tmp/x"}, "a")
	d.press("y", "n")
	d.shows(t, "tmux needs set-clipboard on")
	d.press("y", "z")
	if d.Menu != 0 || d.Shape != screen.ShapeNormal {
		t.Error("a key that the menu does not know did something, or left it open")
	}
}

func TestCopyTakesTheMarkedRows(t *testing.T) {
	t.Parallel()
	d := exporting(nil, "a", "b", "c")
	d.press("space", "j", "space", "y")
	if got := clipboard(d.send(key("n"))); got != "a\nc" {
		t.Errorf("it copies %q", got)
	}
	d.shows(t, "2 names")
}

func TestCopyRefusesWhatATerminalOrAShellWouldObey(t *testing.T) {
	t.Parallel()
	d := exporting(nil, "a\nrm -rf", strings.Repeat("x", 80_000))
	d.press("y")
	if got := clipboard(d.send(key("n"))); got != "" {
		t.Errorf("it copies %q", got)
	}
	d.shows(t, "could obey")
	d.press("j", "y")
	if got := clipboard(d.send(key("n"))); got != "" {
		t.Errorf("it copies %d bytes", len(got))
	}
	d.shows(t, "80,000 bytes are too much")
}

func TestExportWritesWhatIsShownToANewFile(t *testing.T) {
	t.Chdir(t.TempDir()) // not parallel: the current directory is the process's
	d := exporting(nil, "a", "b", "c")
	d.press("/", "b", "enter", "e")
	d.shows(t, "export as")
	d.write(t, "j")
	d.shows(t, "1 row in ")
	d.shows(t, "coordtop-20261121-120000.jsonl")
	if text, err := os.ReadFile("coordtop-20261121-120000.jsonl"); err != nil || string(text) != "1 b\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if info, err := os.Stat("coordtop-20261121-120000.jsonl"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	d.press("e")
	d.write(t, "j")
	d.shows(t, "not exported: open ")
	d.press("esc", "g", "space", "space", "e")
	d.write(t, "t")
	if text, err := os.ReadFile("coordtop-20261121-120000.txt"); err != nil || string(text) != "0 a\n0 b\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	for name, form := range map[string]Form{"c": FormCSV, "m": FormMarkdown} {
		d.press("e")
		d.write(t, name)
		file := "coordtop-20261121-120000" + map[Form]string{FormCSV: ".csv", FormMarkdown: ".md"}[form]
		if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), strconv.Itoa(int(form))+" a") {
			t.Errorf("%s holds %q, %v", file, text, err)
		}
	}
	broken := errors.New("broken")
	if _, err := writeNew(filepath.Join(t.TempDir(), "x"), func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// write presses a key of the menu of exports and waits for the file.
func (d *driver) write(t *testing.T, name string) {
	t.Helper()
	cmd := d.send(key(name))
	if cmd == nil {
		t.Fatal("nothing is written")
	}
	d.send(run(cmd))
}

// run carries out a command, or the one in a batch.
func run(cmd tea.Cmd) tea.Msg {
	msg := cmd()
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && v.Len() == 1 {
		return run(v.Index(0).Interface().(tea.Cmd))
	}
	return msg
}

func TestAClipboardIsAskedForByOSC52(t *testing.T) {
	t.Parallel()
	feed := newTestFeed(uitest.State(noon(), uitest.Led("a", "o", noon())))
	s, all := uitest.NewScreen(t, 120, 30), &record{}
	ended := make(chan error, 1)
	go func() { // received below
		ended <- Run(t.Context(), Options{Feed: feed, Title: "prod-eu", Input: s.Input(), Output: io.MultiWriter(s, all), Width: 120, Height: 30,
			Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}})
	}()
	s.Await(t, "READ-ONLY")
	s.Type(t, "yn")
	s.Await(t, "asked the terminal")
	s.Type(t, "q")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if want := ansi.SetSystemClipboard("a"); !strings.Contains(all.String(), want) {
		t.Errorf("no %q was written", want)
	}
	for _, want := range []string{"\x1b]2;coordtop prod-eu: no problems\a", ansi.RequestBackgroundColor} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q was written", want)
		}
	}
}
