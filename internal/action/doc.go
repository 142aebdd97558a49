// Package action has plain values for what a person can do to a primitive, and for the result. The board and the
// command line use them; internal/operate carries the actions out. The package knows no backend. One table, Verbs,
// has the demands of each verb, and one method, Target.Changed, compares a row with what the person decided about.
//
// It may import sources, internal/ground/format.
//
// Every action goes through these steps of an operate.Operator:
//
//   - Choices tells what can be done to a row and, for the other verbs, why not.
//   - Describe turns a Request into an Effect: what will be sent, what else ends, who comes next, and what the
//     person must still give (a reason, the name).
//   - Start checks every guard again, writes the first line of the audit and starts the action. It never waits for
//     a server.
//   - Status is a snapshot of all running actions and of what we hold.
//   - An action ends with what was observed, not with what a call returned.
package action
