package paint

// Severity says how loudly a row is drawn.
type Severity uint8

// The severities, the loudest first.
const (
	Bad   Severity = iota // needs a person
	Warn                  // worth a look
	Well                  // normal life
	Free                  // nobody owns it, which is normal too
	Blind                 // we do not know
)

// Problem reports whether a row counts as one.
func (s Severity) Problem() bool { return s <= Warn }
