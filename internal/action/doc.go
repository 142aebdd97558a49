// Package action says in plain values what a person can do to a primitive, and what
// became of it. Screens and command lines speak it; internal/operate does it. It knows no
// backend and does nothing. What a verb demands is in one table, Verbs, and whether a row is
// still what a person decided about is compared in one place, Target.Changed.
//
// An action goes through these steps, whoever asks for it:
//
//   - Choices tells for one row what can be done and, for the rest, why not.
//   - Describe turns a Request into an Effect: what will be sent, what falls, who comes
//     next, and what the person must still give (a reason, the name).
//   - Start checks every guard again, writes the first line of the audit and begins. It
//     never waits for a server.
//   - Status tells how each running action stands and what we hold. It is a snapshot.
//   - The end of an action is what was observed, not what a call returned.
package action
