// Package address reads the parts of a server's URL that are alike on every backend: the
// login, a host, the parameters, and guesses what a misspelt word was meant to be. net/url
// is used for its decoding only: it refuses lists of hosts, and its errors repeat the
// password.
//
// No error of this package repeats a user, a password, a host or a parameter's value; each
// says what to write instead. Everything here is pure and safe for concurrent use.
package address
