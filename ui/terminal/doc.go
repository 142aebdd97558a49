// Package terminal is what stands between a Bubble Tea program and its terminal.
//
//   - A gate does the writes in a goroutine of its own and times them; a keyboard bounds what
//     is read. A terminal that does not read or that is gone cannot keep a program from ending,
//     and a slow one gets a frame a second. Both stand behind a Terminal.
//   - SplitKeys puts keys together again that a slow link has cut.
//   - A Pump turns wake-ups and the passing of seconds into messages.
//   - Recovering keeps the panics of a model from Bubble Tea.
//
// It knows nothing of what is shown. Every goroutine that it starts has an owner that joins
// it, but for the one in a write that was given up.
package terminal
