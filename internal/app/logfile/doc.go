// Package logfile has the one log of the program: a file in the state directory that several coordtops share.
//
// It may import internal/config, internal/ground/files.
package logfile
