// Package spawn starts every goroutine and every timer of this module, so that a panic in
// one of them does not end the process on the spot, with a terminal that is still raw and
// locks that stay at their services until they run out.
//
// It may import nothing of this module.
//
// Who runs a program says what a panic means there, with With, in the context that
// everything else is started under. The goroutine that panics ends: its deferred calls
// run, the handler is told the value and the stack, once, and then whoever waits for the
// goroutine goes on. The handler makes the rest end. Inside such a context another one may
// be told instead (With again): a source contains the panics of all that it starts.
//
// Where nobody has said anything, as in a program that only uses coord as a library,
// nothing is caught: a panic ends the process with its own stack, as it does without this
// package.
//
// A handler is inherited like any value of a context. A thing that outlives the call that made
// it, as a session does, therefore takes its life from context.WithoutCancel of that call's
// context and not from context.Background.
//
// What is joined must not wait for somebody who has panicked: results are sent or closed
// in a deferred call, or what makes them runs in Call, which makes an error of the panic.
package spawn
