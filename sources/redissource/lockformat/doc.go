// Package lockformat knows the formats in which programs keep locks, semaphores and elections in Redis. One table has
// the name, value and type of each, the way to read it, and its release.
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
// A Certain entry has a name or a value that no other program has. For another entry, if the name is that of a lock,
// only the library is uncertain. If only the value suggests a lock, for example a UUID alone, the lock itself is a
// guess as well: Weak.
//
// # What is shown of a value
//
// The value of a lock, a field of its hash or a member of its sorted set is enough to release it. So only text that
// rediscoord.OwnerOf allows leaves this package, and never a part of a value that a format defines as a nonce.
//
// # Release
//
// Release describes a forced release, without the comparison, as data: the part that is removed, the part that is
// returned to another key, the messages that wake waiters, and whether the old owner's own release compares. The
// package sends nothing.
//
// All functions are pure and safe for concurrent use.
package lockformat
