// Package doctor examines sources, from the name of the host to the data that the board lacks. It connects to each
// address itself. The source makes the checks for its kind of server (see [kit.Examiner]), and the Hub has what was
// observed while the source was watched.
//
// It may import sources, sources/kit, internal/ground/address, internal/ground/format.
//
// The package writes nothing to a server or a disk, and cleans the texts of servers before it prints them.
package doctor
