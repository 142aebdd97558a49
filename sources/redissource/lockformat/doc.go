// Package lockformat knows how programs keep their locks, semaphores and elections in Redis:
// one table of formats, what each looks like, what it tells, and what its release must do.
//
// # How a key is recognised
//
// A format that has a fixed name is found by the name alone (ByName), whatever the value is.
// Every other format is found by its value: Find returns the first entry of the table that
// agrees with type, name and value. A key that no entry knows, under a name with a word for a
// lock (Word), is a guess.
//
// Some libraries keep several keys for one lock. One of them stands for the lock, and ByName
// says of the others which it is, or that they are no lock at all. Companions are what has to
// be read with the key that stands for the lock.
//
// # How certain it is
//
// Certain entries have a name or a value that nothing else has. Of the others only the library
// is uncertain (Format.Certain is false) where the name is that of a lock; where only the
// value speaks for a lock, as a UUID alone does, the lock itself is a guess, too: Weak.
//
// # What is shown of a value
//
// The value of a lock, a field of its hash or a member of its sorted set is enough to release
// it. So only what rediscoord.OwnerOf allows leaves this package, and
// nothing of a value that a format knows to be a nonce.
//
// # Release
//
// Release is what a forced release consists of beside comparing, as data: what is removed,
// what is given back, what is published to wake those who wait, and whether the release that
// the old owner still does itself compares. The package sends nothing.
//
// All of it is pure, never changes, and may be used from any goroutine.
package lockformat
