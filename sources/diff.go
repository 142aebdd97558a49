package sources

// Diff names what happened to one primitive between two looks.
func Diff(before, after *Primitive, c Change) []Event { return nil }
