package app

import (
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	reports "coordtop/internal/history/report"
	"coordtop/sources"
	"coordtop/ui"
)

// export writes rows of the board in the forms of get.
func export(w io.Writer, f ui.Form, st *sources.State, rows []*sources.Row, now time.Time) error {
	return headless.Export(w, formatOf(f), st, rows, now)
}

func exportTable(w io.Writer, f ui.Form, table [][]string) error {
	return headless.ExportTable(w, formatOf(f), table)
}

// picture draws the lanes of the Timeline as the report command does.
func picture(title string) ui.Picture {
	return func(w io.Writer, lanes []history.Lane, events []sources.Event, span history.Span, zone *time.Location) error {
		r := reports.Report{Title: title, Span: span, Zone: zone}
		r.Have(lanes, events)
		return r.SVG(w)
	}
}

func formatOf(f ui.Form) headless.Format {
	return map[ui.Form]headless.Format{ui.FormJSON: headless.JSON, ui.FormCSV: headless.CSV, ui.FormMarkdown: headless.Markdown}[f] // else Text
}

// commandFor returns a function that makes the command line which prints a row of c: with the name of its
// source if c is from a config file, else with a URL without a password.
func (st *settings) commandFor(c config.Config) func(*sources.Row) string {
	return func(r *sources.Row) string {
		words := []string{"coordtop", "get"}
		i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == r.Source })
		if i < 0 {
			return ""
		}
		if c.Path == "" {
			return strings.Join(append(words, format.ShellWord(backends.URL(c.Sources[i], r))), " ")
		}
		if st.file != "" {
			words = append(words, "--config", format.ShellWord(st.file))
		}
		name := r.FullName()
		if name[0] == '-' {
			words = append(words, "--") // else it would be read as flags
		}
		return strings.Join(append(words, format.ShellWord(name)), " ")
	}
}
