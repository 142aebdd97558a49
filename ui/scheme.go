package ui

// schemes are the themes that can be asked for.
func schemes() []string { return []string{"auto", "dark", "light"} }

func (m *model) setScheme(string) {}
