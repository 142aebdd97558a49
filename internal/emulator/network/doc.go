// Package network is what the emulators have in common: a listener, on a socket or in memory, whose
// connections can be cut, refused or held up, and the lock of a model that waits for a clock.
//
// It may import nothing of this module.
//
// Like the emulators it imports nothing of ours. All its methods are safe for concurrent use. It
// starts no goroutine.
package network
