// Package doctor examines sources, from the name of the host to what is missing on the board. It connects to each
// address itself. The source does the checks of its kind of server (see [kit.Examiner]), and the Hub has what was
// observed while it was watched.
//
// It may import sources, sources/kit, internal/ground/address, internal/ground/format.
//
// The package writes nothing to a server or a disk, and prints texts of servers clean.
package doctor
