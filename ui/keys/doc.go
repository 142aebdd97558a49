// Package keys is the one table of what a person can want: intents, the keys and commands
// that begin them, and where those work. Input, footer, help and the check of changed keys are
// read from it. It knows no screen and keeps no state.
package keys
