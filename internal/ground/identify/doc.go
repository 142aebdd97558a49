// Package identify finds out which kind of server listens where one of another kind was
// expected: a Postgres client at a Redis waits for an answer in vain, and the other way round
// the connection just ends.
//
// It may import internal/ground/address, internal/ground/spawn.
//
// It opens at most two connections, sends a few bytes that every server takes for a wrong
// first message and none obeys, and reads the first ones of the answer. Nothing of a URL is
// sent, no login either. Everything here is safe for concurrent use.
package identify
