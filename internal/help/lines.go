package help

import (
	"strings"

	"coordtop/internal/ground/format"
)

// beside is the widest first cell of a row that the other cells can still stand beside, in columns.
const beside = 18

// Screen writes blocks for a terminal of so many columns. strong makes headings and code stand out; if it is
// nil, code keeps its backticks.
func Screen(blocks []Block, width int, strong func(string) string) string {
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 && (b.Kind != blocks[i-1].Kind || b.Kind == Text) {
			out.WriteByte('\n')
		}
		indent := "  "
		if b.Kind == Heading {
			indent = ""
		}
		for _, line := range b.Lines(width-2, strong) {
			out.WriteString(indent + line + "\n")
		}
	}
	return out.String()
}

// Lines are a block in so many columns, with strong as Screen has it.
func (b *Block) Lines(width int, strong func(string) string) []string {
	text := b.Cells[0]
	if b.Kind == Heading && strong != nil {
		text = "`" + strings.ReplaceAll(text, "`", "") + "`"
	}
	if b.Kind != Code {
		text = marked(text, strong)
	}
	switch n := format.Width(text); {
	case b.Kind == Code && n+4 <= width:
		return []string{"    " + text}
	case b.Kind == Code:
		return wrap("    ", text, 4, width)
	case b.Kind == Item:
		return wrap("- ", text, 2, width)
	case b.Kind == Row && n <= beside:
		return wrap(format.Fit(text, beside+2), marked(b.Rest(), strong), beside+2, width)
	case b.Kind == Row:
		return append(wrap("", text, 0, width), wrap("    ", marked(b.Rest(), strong), 4, width)...)
	}
	return wrap("", text, 0, width)
}

// Rest joins the cells behind the first one. If there are several, each gets the head of its column.
func (b *Block) Rest() string {
	var cells []string
	for i, cell := range b.Cells[1:] {
		if cell != "" && len(b.Cells) > 2 && b.Head[i+1] != "" {
			cell = b.Head[i+1] + ": " + cell
		}
		if cell != "" {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, "; ")
}

// marked shows each word of the code in a text, so that the text can be cut between them.
func marked(text string, strong func(string) string) string {
	if strong == nil {
		return text
	}
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts); i += 2 {
		words := strings.Split(parts[i], " ")
		for j, word := range words {
			words[j] = strong(word)
		}
		parts[i] = strings.Join(words, " ")
	}
	return strings.Join(parts, "")
}

// wrap cuts a text into lines between its words; first stands before it, and all others are as far in.
func wrap(first, text string, indent, width int) []string {
	lines, at := []string{first}, indent
	for i, word := range strings.Fields(text) {
		n := format.Width(word)
		switch last := &lines[len(lines)-1]; {
		case i == 0:
			*last += word
			at += n
		case at+1+n > width:
			lines = append(lines, strings.Repeat(" ", indent)+word)
			at = indent + n
		default:
			*last += " " + word
			at += 1 + n
		}
	}
	return lines
}
