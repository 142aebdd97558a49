// Package action has the plain values that describe actions of people on primitives and their results. The board and
// the command line use them; internal/operate executes the actions. The package knows no backend. One table, Verbs, has
// the requirements of each verb, and one method, Target.Changed, compares a row with the one that the person decided
// about.
//
// It may import sources, internal/ground/format.
//
// Every action goes through these steps of an operate.Operator:
//
//   - Choices lists the actions that are possible for a row and, for the others, the reason why they are not.
//   - Describe turns a Request into an Effect: what will be sent, what else ends, who comes next, and what the
//     person must still give (a reason, the name).
//   - Start checks every guard again, writes the first line of the audit and starts the action. It never waits for
//     a server.
//   - Status is a snapshot of all running actions and of what we hold.
//   - The result of an action is an observation, not the return value of a call.
package action
