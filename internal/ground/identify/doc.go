// Package identify finds out which kind of server listens where one of another kind was expected. Without it, a
// Postgres client at a Redis server waits in vain for an answer, and a Redis client at a Postgres server sees only that
// the connection ends.
//
// It may import internal/ground/address, internal/ground/spawn.
//
// It opens at most two connections, sends a few bytes that every server rejects as a wrong first message, and reads the
// first bytes of the answer. It sends nothing of a URL and no login. Everything here is safe for concurrent use.
package identify
