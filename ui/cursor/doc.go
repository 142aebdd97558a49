// Package cursor keeps a cursor and a window on a list whose order changes under them.
// It knows identities, not contents: whoever draws asks for the visible keys.
//
// The cursor stays on its key, wherever that goes. When the key leaves the list, the
// cursor shows the row that took its place, and goes back when the key returns, unless
// it was moved meanwhile.
//
// A List is not safe for concurrent use.
package cursor
