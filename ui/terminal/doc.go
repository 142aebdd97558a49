// Package terminal connects a Bubble Tea program to its terminal.
//
// It may import internal/ground/backoff, internal/ground/spawn.
//
//   - A Terminal has a gate and a keyboard. The gate does the writes in a goroutine of its own and
//     times them; the keyboard bounds the input. A terminal that does not read or that is gone
//     cannot keep a program from ending, and a slow one gets a frame a second.
//   - A KeyJoiner joins keys that a slow link has split.
//   - A Pump turns wake-ups and the passing of seconds into messages.
//   - Frames slows the ticker of Bubble Tea down while nothing changes.
//   - An Alert calls for a person: with the bell, or a notification of the desktop.
//   - Recovering keeps the panics of a model from Bubble Tea.
//
// It does not depend on what is drawn. Every goroutine that it starts has an owner that joins it,
// except one in a write that was given up.
package terminal
