// Package format turns the texts of other programs, and our own times and numbers, into text that is safe and
// short enough for a terminal or a line of JSON.
//
// It may import nothing of this module.
//
// Names, owners and data come from strangers. Nothing reaches a terminal without
// passing Clean: control characters, escape sequences, characters that reorder or
// hide text, and bytes that are no UTF-8 come out as visible escapes.
//
// Everything here is pure and safe for concurrent use.
package format
