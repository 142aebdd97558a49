// Package spawn starts every goroutine and every timer of this module, so that a panic in one of them does not end the
// process at once, with a terminal that is still raw and locks that their services keep until they expire.
//
// It may import nothing of this module.
//
// A program sets a handler of panics with With, in the context under which it starts everything else. When a goroutine
// panics, its deferred calls run, the handler receives the value and the stack, once, and then those who wait for the
// goroutine continue. The handler must end the rest of the program. With may be called again inside such a context to
// set another handler: for example, a source handles the panics of everything that it starts.
//
// Without a handler, for example in a program that only uses coord as a library, nothing is caught: a panic ends the
// process with its own stack, as it does without this package.
//
// A handler is inherited like any value of a context. An object that outlives the call that made it, such as a session,
// therefore derives its context from context.WithoutCancel of that call's context and not from context.Background.
//
// Code that joins a goroutine must not block if that goroutine has panicked. Therefore results are sent, or their
// channel is closed, in a deferred call, or the work runs in Call, which returns a panic as an error.
package spawn
