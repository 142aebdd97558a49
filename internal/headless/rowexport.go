package headless

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Export writes rows of s, in their order, with one Write. Text, CSV and Markdown have the table of Get and the owner
// before; JSON has a line for each row, with its object of "primitives" in Get. Export may be called from any
// goroutine: it changes neither s nor the rows.
func Export(w io.Writer, f Format, s *sources.State, rows []*sources.Row, now time.Time) error {
	var buf bytes.Buffer
	switch {
	case f == JSON:
		j := judge(s)
		for _, r := range rows {
			if err := encode(&buf, primitiveOf(j, r, now, nil)); err != nil {
				return fmt.Errorf("encoding %s: %w", text(r.Name), err)
			}
		}
	case f == Text && len(rows) == 0:
	default:
		return ExportTable(w, f, historyTable(s, rows, now))
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// ExportTable writes a table, whose first line names its columns, with one Write: as JSON an object
// for each line.
func ExportTable(w io.Writer, f Format, table [][]string) error {
	var buf bytes.Buffer
	switch f {
	case JSON:
		for _, line := range table[1:] {
			object := map[string]string{}
			for i, cell := range line {
				object[table[0][i]] = cell
			}
			if err := encode(&buf, object); err != nil {
				return fmt.Errorf("encoding: %w", err)
			}
		}
	case CSV:
		if err := writeCSV(&buf, table); err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
	case Markdown:
		writeMarkdown(&buf, table)
	default:
		_ = align(&buf, table) // a Buffer takes everything
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// historyTable returns the table of Get with the owner before in one more column.
func historyTable(s *sources.State, rows []*sources.Row, now time.Time) [][]string {
	table := textTable(s, rows, now)
	table[0] = append(table[0], "BEFORE")
	for i, r := range rows {
		table[i+1] = append(table[i+1], textBefore(r.Terms))
	}
	return table
}

// textBefore names the last owner whose ownership is over, with its length and the cause of its end.
func textBefore(terms []sources.Term) string {
	for _, t := range slices.Backward(terms) {
		if t.End.How == sources.Unknown {
			continue
		}
		text := textOwner(t.Owner)
		if held := t.Held(); held != (sources.Interval{}) {
			text += " for " + held.Text()
		}
		cause := "cause " + t.Cause.String()
		if t.Cause != sources.CauseUnknown {
			cause += ", " + t.How.String()
		}
		return text + " (" + cause + ")"
	}
	return "-"
}

// writeCSV writes a table as RFC 4180 has it. Names and owners are other people's texts, and a spreadsheet
// evaluates a cell that begins like a formula: such a cell gets an apostrophe, which it does not show.
func writeCSV(w io.Writer, table [][]string) error {
	out := csv.NewWriter(w)
	for _, line := range table {
		for i, cell := range line {
			if len(cell) > 1 && strings.ContainsRune("=+-@", rune(cell[0])) {
				line[i] = "'" + cell
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeMarkdown writes a table with all markup in its cells escaped.
func writeMarkdown(b *bytes.Buffer, table [][]string) {
	for i, line := range table {
		for _, cell := range line {
			b.WriteString("| " + format.Markdown(cell) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(line)) + "|\n")
		}
	}
}

// Format is the form of what is printed.
type Format uint8

// The formats. Get and Watch print the first two, Export all.
const (
	Text Format = iota
	JSON
	CSV
	Markdown
)
