// Package recordtest writes the recordings of historytest into files, for tests of what reads
// them, and records Hubs into a file as the program does.
package recordtest
