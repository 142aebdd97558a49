// Package storetest has the tests that every store of a recording must pass. A test of a store calls [Run].
//
// It may import internal/history, sources, sources/tape.
package storetest
