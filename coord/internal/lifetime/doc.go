// Package lifetime is what the sessions and grants of all drivers have in common: a grant ends
// once and for a cause, and a session has calls under way and grants until it is shut.
//
// All its methods are safe for concurrent use.
package lifetime
