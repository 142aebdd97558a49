// Package lifetime has the common parts of the sessions and grants of drivers: a grant ends
// once and with a cause, and a session has calls under way and grants until it is shut.
//
// It may import coord, internal/ground/spawn.
//
// All its methods are safe for concurrent use.
package lifetime
