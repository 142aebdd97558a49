// Package lazy makes what is costly to make when it is first needed, so that a command that does not need it
// starts at once.
//
// It may import nothing of this module.
package lazy
