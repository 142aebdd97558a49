// Package recordtest writes the recordings of historytest into files, for tests of what reads
// them.
package recordtest
