// Package lazy delays costly initialization until its result is first needed, so that commands that never need it start
// at once.
//
// It may import nothing of this module.
package lazy
