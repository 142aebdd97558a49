// Package lockformat knows the formats in which programs keep locks, semaphores and elections in
// Redis: one table with the name, value and type of each, the way to read it, and its release.
//
// It may import coord/rediscoord, sources, internal/ground/legible.
//
// # How a key is recognised
//
// A format with a fixed name is found by the name alone (ByName), whatever the value is.
// Every other format is found by its value: Find returns the first entry of the table that
// matches type, name and value. A key of no known format, under a name with a word for a
// lock (Word), is a guess.
//
// Some libraries keep several keys for one lock. One of them is the main key of the lock. For
// the other keys, ByName returns the main key, or reports that they belong to no lock. Companions lists
// the keys to read with the main key.
//
// # How certain it is
//
// Certain entries have a name or a value that no other program has. Of the other entries, only the
// library is uncertain where the name is that of a lock; where only the value suggests a lock, as a
// UUID alone does, the lock itself is a guess, too: Weak.
//
// # What is shown of a value
//
// The value of a lock, a field of its hash or a member of its sorted set is enough to release
// it. So only text that rediscoord.OwnerOf allows leaves this package, and
// no part of a value that a format knows to be a nonce.
//
// # Release
//
// Release describes a forced release, apart from the comparison, as data: the part that is removed,
// the part that is given back, the messages that wake waiters, and whether the
// old owner's own release compares. The package sends nothing.
//
// All functions are pure and safe for concurrent use.
package lockformat
