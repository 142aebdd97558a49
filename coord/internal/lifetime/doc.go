// Package lifetime has the common parts of the sessions and grants of drivers. A grant ends once, with a cause; a
// session has calls and grants until it is shut.
//
// It may import coord, internal/ground/spawn.
//
// All its methods are safe for concurrent use.
package lifetime
