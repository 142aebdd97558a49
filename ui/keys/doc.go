// Package keys is the one table of intents, which are the things that a person can do, with their
// keys, commands and contexts. Input, footer, help and the check of changed keys use it. It does
// not depend on any screen and keeps no state.
//
// It may import internal/ground/address.
package keys
