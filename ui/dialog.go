package ui

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
	"coordtop/ui/screen"
)

// dialog stands over the board and takes the keys while it is open. One that can do harm
// is never opened by anything but a key.
type dialog interface {
	scope() keys.Scope
	// do carries out an intent of its scope.
	do(m *model, i keys.Intent) tea.Cmd
	// edit takes what is typed or pasted and is no key of its scope.
	edit(m *model, msg tea.Msg) tea.Cmd
	// heed looks again at what it stands for.
	heed(m *model)
	// picture draws it within so many cells, without its frame.
	picture(m *model, w, h int) screen.Picture
}
