// Package doctor examines sources, from the name of the host to what is missing on the board. It reaches
// each address itself; what is particular to a kind of server its source knows (see
// [kit.Examiner]), and what was seen while it was watched the Hub does.
//
// Nothing is written to a server or a disk, and what servers say is printed clean.
package doctor
