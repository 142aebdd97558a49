// Package lifetime has the common parts of the sessions and grants of drivers: a grant ends
// once and with a cause, and a session has calls under way and grants until it is shut.
//
// All its methods are safe for concurrent use.
package lifetime
