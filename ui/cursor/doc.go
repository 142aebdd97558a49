// Package cursor keeps a cursor and a window on a list whose order changes under them.
// It knows keys, not contents: the caller draws the visible keys.
//
// It may import nothing of this module.
//
// The cursor stays on its key, wherever that moves. When the key leaves the list, the
// cursor shows the row that took its place. When the key returns, the cursor goes back to
// it, unless the person has moved the cursor.
//
// A List is not safe for concurrent use.
package cursor
