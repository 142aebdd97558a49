// Package address takes the URL of a server apart and reads what is alike on every backend: the
// login, a host, the parameters. It also guesses what a misspelt word was meant to be. net/url
// is used for its decoding only: it refuses lists of hosts, and its errors repeat the
// password.
//
// It may import nothing of this module.
//
// No error of this package repeats a user, a password, a host or a parameter's value; each
// says what to write instead. Everything here is pure and safe for concurrent use.
package address
