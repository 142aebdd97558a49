package headless

// Format is how things are printed.
type Format uint8

// The formats. Get and Watch print the first two, Export all.
const (
	Text Format = iota
	JSON
	CSV
	Markdown
)
