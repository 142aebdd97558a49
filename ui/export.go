package ui

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// Form is a format in which rows are exported.
type Form uint8

// The forms.
const (
	FormText     Form = iota // for people
	FormJSON                 // one object a line
	FormCSV                  // for spreadsheets
	FormMarkdown             // for tickets
	FormSVG                  // a picture
)

// Exporter writes rows of a state. It may be called from any goroutine.
type Exporter func(w io.Writer, f Form, st *sources.State, rows []*sources.Row, now time.Time) error

// Picture draws lanes in a span, and when there were events, as SVG. It may be called from any goroutine.
type Picture func(w io.Writer, lanes []history.Lane, events []sources.Event, span history.Span, zone *time.Location) error

// exporter copies and writes rows, actions and lanes for use outside of the board.
type exporter struct {
	part
	options *Options
	tmux    bool
	audit   *auditReader
	list    *rowList
}

// maxCopy bounds the bytes that are handed to a clipboard: terminals drop more than
// 74,994 bytes of base64.
const maxCopy = 74_994 / 4 * 3

// copied asks the terminal to take text into its clipboard. No terminal reports whether it
// did.
func (x *exporter) copied(what, text string) tea.Cmd {
	switch {
	case text == "":
		x.host.Say("there is nothing to copy: choose a row that has it")
		return nil
	case len(text) > maxCopy:
		x.host.Say(paint.Count(len(text), "byte") + " are too much for a clipboard; " + x.scene.Keys.KeyOf(keys.Export) + " writes a file")
		return nil
	}
	hint := ""
	if x.tmux {
		hint = "; tmux needs set-clipboard on"
	}
	x.host.Say("asked the terminal to copy " + what + "; it does not say whether it did" + hint)
	return tea.SetClipboard(text)
}

// copy carries out a choice of the menu of copies, for the marked rows or the one under
// the cursor.
func (x *exporter) copy(i keys.Intent) tea.Cmd {
	rows := x.list.chosen()
	if len(rows) == 0 {
		return x.copied("", "")
	}
	var lines []string
	what := paint.Count(len(rows), "row")
	switch i {
	case keys.CopyName:
		what = paint.Count(len(rows), "name")
		for _, r := range rows {
			lines = append(lines, r.Name)
		}
	case keys.CopyOwner:
		what = "the owner"
		for _, r := range rows {
			for j := range r.Owners {
				lines = append(lines, r.Owners[j].Label)
			}
		}
	case keys.CopyCommand:
		what = "the command"
		for _, r := range rows {
			if x.options.Command != nil {
				lines = append(lines, x.options.Command(r, "get"))
			}
		}
	case keys.CopyDrill:
		r := rows[0]
		switch words := []string{"drill", "--write", "--yes"}; {
		case r.Kind != sources.KindElection:
			x.host.Say("it is no election: a drill ends leaders")
			return nil
		case x.options.Command != nil:
			if len(r.Owners) > 0 {
				words = []string{"drill", "--how", "release", "--rounds", "3"} // each is confirmed
			}
			what = x.options.Command(r, words...)
			lines = append(lines, what)
		}
	case keys.CopyJSON:
		if x.options.Export == nil {
			break
		}
		var b bytes.Buffer
		if err := x.options.Export(&b, FormJSON, x.scene.State, rows, x.scene.Now); err != nil {
			x.host.Say(paint.Clean(err.Error()))
			return nil
		}
		return x.copied(what+" as JSON", strings.TrimSuffix(b.String(), "\n"))
	}
	for _, l := range lines {
		if format.Clean(l, 0) != l {
			x.host.Say("a text there has characters that a terminal could obey, or that no command can carry: copy its JSON instead")
			return nil
		}
	}
	return x.copied(what, strings.Join(lines, "\n"))
}

// exportedMsg reports the result of an export.
type exportedMsg struct {
	path  string
	thing string // that was exported
	count int
	err   error
}

// write writes the marked rows, or all that the list shows, to a new file in the
// current directory. Reading them and writing happens in the command: a State does not
// change.
func (x *exporter) write(f Form) tea.Cmd {
	can := x.options.Export != nil
	switch x.scene.Shown {
	case screen.Audit:
		can = x.options.ExportTable != nil
	case screen.Timeline:
		can = f == FormText || x.options.Picture != nil
	}
	if !can {
		x.host.Say("nothing here can export")
		return nil
	}
	suffix := [...]string{FormText: ".txt", FormJSON: ".jsonl", FormCSV: ".csv", FormMarkdown: ".md", FormSVG: ".svg"}[f]
	stamp := x.scene.Clock.Format("20060102-150405") + suffix
	if x.scene.Shown == screen.Timeline {
		return x.writeTimeline(f, "coordtop-timeline-"+stamp)
	}
	if x.scene.Shown == screen.Audit {
		export, table := x.options.ExportTable, x.audit.table()
		return func() tea.Msg {
			path, err := writeNew("coordtop-audit-"+stamp, func(w io.Writer) error { return export(w, f, table) })
			return exportedMsg{path, "action", len(table) - 1, err}
		}
	}
	var rows []*sources.Row
	if len(x.scene.Marks) > 0 {
		rows = x.list.chosen()
	} else {
		rows = slices.Collect(x.scene.Rows.Rows)
	}
	export, st, now := x.options.Export, x.scene.State, x.scene.Now
	return func() tea.Msg {
		path, err := writeNew("coordtop-"+stamp, func(w io.Writer) error { return export(w, f, st, rows, now) })
		return exportedMsg{path, "row", len(rows), err}
	}
}

// writeTimeline writes what the Timeline shows: as text the screen without its last line, else its lanes as a picture.
func (x *exporter) writeTimeline(f Form, name string) tea.Cmd {
	lanes, events, span := screen.Exported(x.scene)
	write := func(w io.Writer) error { return x.options.Picture(w, lanes, events, span, x.scene.Now.Location()) }
	if f == FormText {
		lines := screen.Draw(x.scene).Lines
		text := ansi.Strip(strings.Join(lines[:max(len(lines)-1, 0)], "\n")) + "\n"
		write = func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	return func() tea.Msg {
		path, err := writeNew(name, write)
		return exportedMsg{path, "lane", len(lanes), err}
	}
}

// writeNew writes a file that was not there before, readable for its owner only: owners
// and data may be nobody else's business.
func writeNew(name string, write func(io.Writer) error) (path string, err error) {
	path, err = filepath.Abs(name)
	if err != nil {
		return name, fmt.Errorf("finding the current directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return path, err
	}
	if err := write(f); err != nil {
		_ = f.Close() // the first error counts
		return path, err
	}
	return path, f.Close()
}

// exported tells the person.
func (x *exporter) exported(msg exportedMsg) {
	if msg.err != nil {
		x.host.SayFor(longMessage, "not exported: "+paint.Clean(msg.err.Error())+": start coordtop where files may be written")
		return
	}
	x.host.SayFor(longMessage, paint.Count(msg.count, msg.thing)+" in "+paint.Clean(msg.path))
}

// quitKeeping quits, and has what is shown left behind as text.
func (m *model) quitKeeping() tea.Cmd {
	lines := m.picture().Lines
	m.acting.Kept = lines[:max(len(lines)-1, 0)] // the hints would be about keys of another program
	return m.acting.Quit()
}

// aborting is the command that does what ctrl-\ does to a program whose terminal is not raw.
func (m *model) aborting() tea.Msg {
	if m.options.Abort != nil {
		m.options.Abort()
	}
	return nil
}
