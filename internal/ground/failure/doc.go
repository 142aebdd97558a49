// Package failure makes errors that wrap more than their text says. A person who reads an error needs one sentence; a
// program needs to find every reason in it with errors.Is and errors.As, for example that a request failed because its
// context ended.
//
// It may import nothing of this module.
//
// The functions are pure and safe for concurrent use.
package failure
