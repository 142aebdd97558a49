package ui

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"

	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// noon is when the hand-made states were read.
func noon() time.Time { return uitest.Noon() }

// driver turns a model by hand: intents in, frames out.
type driver struct {
	*model
	feed  *testFeed
	waits bool // the operator was told to do something since the last key
}

func drive(feed *testFeed, o Options) *driver {
	o.Feed = feed
	if o.Title == "" {
		o.Title = "prod-eu"
	}
	if o.Environ == nil {
		o.Environ = []string{"TERM=xterm-256color", "LANG=C.UTF-8"}
	}
	if o.Width == 0 {
		o.Width, o.Height = 160, 48
	}
	d := &driver{model: newModel(o), feed: feed}
	do := d.acting.Doer
	d.acting.Doer = func(f func(context.Context) error) <-chan error {
		d.waits = true
		return do(f)
	}
	d.answer(d.send(tea.WindowSizeMsg{Width: o.Width, Height: o.Height})) // what it reads of a recording
	return d
}

// hand drives a board over hand-made rows.
func hand(prims ...*sources.Primitive) *driver {
	return drive(newTestFeed(uitest.State(noon(), prims...)), Options{Width: 120, Height: 30})
}

func (d *driver) send(msg tea.Msg) tea.Cmd {
	_, cmd := d.Update(msg)
	return cmd
}

// press presses keys by name; one that is no name is typed letter by letter. It waits for the
// answer to what the operator does at once.
func (d *driver) press(keys ...string) {
	for _, k := range keys {
		d.waits = false
		if cmd := d.send(key(k)); d.waits {
			d.await(cmd)
		}
	}
}

func (d *driver) typed(text string) {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func key(name string) tea.KeyPressMsg { return uitest.Key(name) }

// pass lets seconds pass.
func (d *driver) pass(seconds int) {
	for range seconds {
		d.feed.Pass(time.Second)
		d.send(terminal.SecondMsg{})
		d.send(terminal.ColumnMsg{})
	}
}

// show puts another state in place.
func (d *driver) show(st *sources.State) {
	d.feed.Set(st)
	d.send(terminal.WakeMsg{})
}

// text is the frame without styles.
func (d *driver) text() string { return ansi.Strip(d.View().Content) }

func (d *driver) lines() []string { return strings.Split(d.text(), "\n") }

// cursor is the name of the row under the cursor.
func (d *driver) cursor() string {
	row, _ := d.Selected()
	if row == nil {
		return ""
	}
	return row.Name
}

// names are the visible rows from top to bottom.
func (d *driver) names() []string {
	var names []string
	for _, h := range d.Locks.Visible() {
		row, _ := d.Rows.At(h)
		names = append(names, row.Name)
	}
	return names
}

func (d *driver) shows(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(d.text(), text) {
		t.Errorf("the frame does not show %q:\n%s", text, d.text())
	}
}

func (d *driver) showsNot(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(d.text(), text) {
		t.Errorf("the frame shows %q:\n%s", text, d.text())
	}
}

// golden compares text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: make golden writes it", err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs; make golden, then look at the diff. Now:\n%s", file, got)
	}
}
