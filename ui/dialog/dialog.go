package dialog

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/ui/keys"
	"coordtop/ui/screen"
)

// Dialog stands over the board and takes the keys while it is open. One that can do harm
// is never opened by anything but a key.
type Dialog interface {
	keyContext() keys.Context
	// do carries out an intent of its context.
	do(a *Acting, i keys.Intent) tea.Cmd
	// update looks again at what it stands for.
	update(a *Acting)
	// picture draws it within so many cells, without its frame.
	picture(a *Acting, w, h int) screen.Picture
}
