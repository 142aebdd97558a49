// Package dflocktest emulates a dflockd server for tests and demonstrations: the wire protocol of version 1.10 on a
// real listener or in memory, on top of a pure model of the server. Start it, and give Server.Addr to the client.
//
// It may import internal/emulator/network.
//
// It imports no code of our client, so that it cannot share its mistakes.
//
// The model is a state machine: requests and the time go in, replies come out. Server drives it with a clock and a
// listener; package network simulates network faults.
//
// # Emulated behaviour
//
// The behaviour is that of github.com/mtingers/dflockd v1.10.0, including its surprises:
//
//   - Release and renewal check only the nonce, not the connection that sends it.
//   - A renewal without a lease sets the server's default, not the lease of the grant.
//   - The first claim of a key fixes its limit for as long as the entry exists, which is at
//     least GCIdle after the last use.
//   - A connection that sends nothing for ReadTimeout receives "error", is closed, and what it owns is released. This
//     does not apply while it waits in l or w.
//   - A client that hangs up while it waits is noticed only when its turn or its time-out comes.
//   - A wait for a grant whose lease was already swept is answered ok, with a worthless nonce.
//   - Seconds that do not fit into 64 bits of nanoseconds overflow: some become leases of centuries, for some e grants
//     an expired lease, and others are errors.
//   - A malformed request is answered "error" and leaves the connection open; a line that is too long closes the
//     connection.
//   - Entries of stats come in any order.
//
// Newer switches on single changes of later releases; Since1_16 and Since2_1 are all changes through these releases.
// Signals, the HTTP interface and clusters do not exist here.
//
// # Virtual time
//
// With Options.InMemory there are no sockets, and the server can live in a synctest bubble: start it and every client
// inside the bubble, dial with Server.Dial, and close all of them before the bubble ends.
//
// # Where it may differ from the server
//
//   - A request is handled at once and atomically, and stats is consistent over all keys.
//   - A reply is never refused for being written too slowly.
//   - A connection that is refused because too many are open takes no connection id.
package dflocktest
