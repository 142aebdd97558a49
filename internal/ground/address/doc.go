// Package address splits the URL of a server and reads the parts that are alike on every backend: the login, a host,
// the parameters. It also guesses the word that a misspelt one was meant to be. It uses net/url only for decoding,
// because net/url refuses lists of hosts and its errors repeat the password.
//
// It may import nothing of this module.
//
// No error of this package repeats a user, a password, a host or a parameter's value; each error says what to write
// instead. Everything here is pure and safe for concurrent use.
package address
