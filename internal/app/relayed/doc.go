// Package relayed makes a board of what a recorder of another process sees: its Feed, and an Operator that looks at a
// server itself before it acts.
//
// It may import internal/action, internal/history, internal/history/follow, internal/operate, internal/ground/failure, internal/ground/format,
// internal/ground/spawn, sources, ui/dialog.
//
// # Acting
//
// A recording has no guard of an owner, and its state is some tenths of a second old. So nothing is decided on it. The
// board has a Hub of its own, over the sources of its own config, each of which is a [Sleeper]: it connects when the
// person opens the actions of one of its rows, or starts one. From then on, dialogs show the rows of that Hub, and the
// guards of the Operator compare them. The address and the credentials are those of the config; if it has another server
// under the name of the source, every action is refused.
package relayed
