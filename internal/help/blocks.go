package help

import (
	"slices"
	"strings"

	"coordtop/internal/ground/lazy"
)

// Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	Heading Kind = iota // of the topic, or of a part of it
	Text
	Item // of a list
	Row  // of a table
	Code // one line
)

// Block is one part of a topic: a heading, a paragraph, a list item, a table row or a line of code. Code
// within a text stands between backticks.
type Block struct {
	Kind  Kind
	Under string   // the heading above it, or itself; of the title what is behind its colon
	Cells []string // one, or those of a row
	Head  []string // of a row: what stands above its cells
}

// links finds links; it is compiled when it is first needed.
var links = lazy.Regexp(`\[([^\]]*)\]\([^)]*\)`)

// Blocks takes the Markdown apart.
func (t Topic) Blocks() []Block {
	var all []Block
	var under string
	var head []string // of the table that is read
	open := false     // the last block continues in the next line
	for line := range strings.Lines(links().ReplaceAllString(t.Text, "$1")) {
		text := strings.TrimSpace(line)
		marker, rest, _ := strings.Cut(text, " ")
		b := Block{Text, under, []string{text}, nil}
		switch {
		case text == "":
			open, head = false, nil
			continue
		case strings.HasPrefix(line, "    ") && !open:
			b.Kind, b.Cells[0] = Code, strings.TrimRight(line[4:], "\n")
		case strings.HasPrefix(line, "#"):
			if under = rest; strings.Contains(rest, ": ") {
				_, under, _ = strings.Cut(rest, ": ")
			}
			b = Block{Heading, under, []string{rest}, nil}
		case strings.HasPrefix(line, "|---"):
			continue
		case strings.HasPrefix(line, "|") && head == nil:
			head = cells(text)
			continue
		case strings.HasPrefix(line, "|"):
			b = Block{Row, under, cells(text), head}
		case marker == "-" || len(marker) == 2 && marker[1] == '.':
			b.Kind, b.Cells[0] = Item, rest
		case open:
			all[len(all)-1].Cells[0] += " " + text
			continue
		}
		open = b.Kind == Text || b.Kind == Item
		all = append(all, b)
	}
	return all
}

// cells splits a line of a table into its cells.
func cells(line string) []string {
	line = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), `\|`, "\x00")
	list := strings.Split(line, "|")
	for i, cell := range list {
		list[i] = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
	}
	return list
}

// Search returns the parts of the topic that hold all the words, in lower case: one in themselves at
// least, the others there or in their heading. Above them stand their headings, behind the topic's name.
// Every part holds no words.
func (t Topic) Search(words []string) []Block {
	var found []Block
	under := "\n"
	for _, b := range t.Blocks() {
		text := strings.ToLower(strings.Join(b.Cells, " "))
		whole := text + " " + strings.ToLower(b.Under)
		if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) ||
			slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(whole, w) }) {
			continue
		}
		if b.Under != under {
			under = b.Under
			found = append(found, Block{Heading, under, []string{strings.TrimSuffix(t.Name+": "+under, ": ")}, nil})
		}
		if b.Kind != Heading {
			found = append(found, b)
		}
	}
	return found
}
