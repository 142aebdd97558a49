// Package subprocess runs a program that a person configured: one that may hang, print without end, or leave
// child processes behind.
//
// It may import internal/ground/spawn.
//
// A program runs in a session and a process group of its own, without a terminal: nothing else may write to
// the terminal while the board is up, and a program that asks a question would hang. When it ends, or its
// context does, its whole process group is killed; on Linux it also ends with this process.
package subprocess
