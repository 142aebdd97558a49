// Package legible says how much of a value that may prove ownership can be shown: as much as
// is positively a name. A value that nobody can recognise as a name is a secret, whatever it
// looks like.
//
// # What a name is
//
// A name is words, short numbers and abbreviations, joined by - . _ and, between its parts,
// by one : @ / or blank: a host, host:pid, user@host, an address, a pod of Kubernetes. A word
// is one of words.txt, two of them written as one, or a text of up to 11 letters that reads
// like one of them (letters.go). Forms that clouds give their machines are in forms.go.
//
// # How sure it is
//
// A random text can be made of words by accident. So each word is given what it costs in
// bits to pick it out of all that would be accepted in its place, and a stretch of a name is
// believed only if that is fewer than the bits of a random text of the same make-up: as
// long, with the same separators, drawn from the letters, digits and cases that occur in it.
// A nonce has at least 12 characters, and 8 of them in a row must not be shown. So every
// stretch of 12 characters and more saves 21 bits: one random text in two million of those
// that fall into groups like those of a name. One of 8 to 11 saves 6, for as a whole value
// it is no nonce; beside something that is not shown it saves 14, and a longer one 24, since
// a nonce may have a sign in it that divides. Digits save hardly anything, and eight in a
// row are never shown. Separators count for nothing, because some nonces are written in
// groups, but one : or @ for 5 bits.
//
// A nonce without a separator is never shown: no word but those of the list is longer than
// 11 letters.
//
// # What is not told apart
//
// The id of a Docker container, which is the name of its host, the id of an EC2 instance,
// and long serial numbers are random by themselves; a name that no word helps to recognise
// (zx81-qq) is none. They are not shown, unless a person says so with a pattern, which is
// for the caller to apply.
//
// The functions are pure and safe for concurrent use.
package legible
