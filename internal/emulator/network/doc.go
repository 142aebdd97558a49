// Package network has the common parts of the emulators: a listener, on a socket or in memory, whose connections can be
// cut, refused or delayed, and the lock of a model, with which callers can wait for events and for time.
//
// It may import nothing of this module.
//
// Like the emulators it imports no code of our clients. All its methods are safe for concurrent use. It starts no
// goroutine.
package network
