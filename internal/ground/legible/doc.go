// Package legible says how much of a value that may prove ownership can be shown: as much as
// is positively a name. A value that nobody can recognise as a name is a secret, whatever it
// looks like.
//
// It may import nothing of this module.
//
// # What a name is
//
// A name is words, short numbers and abbreviations, joined by - . _ and, between its parts,
// by one : @ / or blank: a host, host:pid, user@host, an address, a pod of Kubernetes. A word
// is one of frequent.txt or words.txt, two of them written as one, or a text of up to 11
// letters that reads like one of them (letters.go). A text of up to 7 letters that hardly
// does is accepted only where the words beside it are sure enough. Forms that clouds give
// their machines are in forms.go.
//
// # How sure it is
//
// A random text can be made of words by accident. So each word is given what it costs in
// bits to pick it out of all that would be accepted in its place, and a stretch of a name is
// believed only if that is fewer than the bits of a random text of the same make-up: as
// long, with the same separators, drawn from the letters, digits and cases that occur in it.
//
// A nonce has at least 12 characters, so every stretch of 12 and more must save bits of its
// own: 21 where it is all of a value, 20 where text is before or behind it, 18 where text is
// on both sides, and 2 fewer at an end without a separator, since fewer nonces stand so.
// Separators count for nothing, because some nonces are written in groups, but two kinds of
// them for 5 bits if all of a value is a name. Text may stand directly at a nonce: of a word
// at an end of a stretch that may be two, only the half counts that would be of the nonce.
// Two abbreviations that nobody knows never stand side by side. Eight digits in a row are
// never shown.
//
// Of a value that is not all a name, what is beside a nonce is shown: beside a UUID and what
// cannot be a group of something longer, whatever is a name by itself; else only a single
// part between : @ / and blanks, for which 8 to 11 characters save 17 bits, and longer ones 4
// more than in a value that is all a name. Less than 8 characters give no nonce away.
//
// Three words and more of which none is usual in the names of programs, hosts and people may be
// a passphrase. They are not shown (phrase.go), nor is one of them.
//
// A nonce without a separator is never shown: no word but those of the lists is longer than
// 11 letters.
//
// # What was measured
//
// Two generators of nonces, in sources/redissource and in nonces_test.go, were written without
// a look at each other.
// In 20 million values of this one (seeds 102 to 121) 5 nonces were shown, in 17 million of the
// other (seeds 2 to 18) 4: a CronJob of digits alone, an address with a nonce as a part, signs
// that join a nonce to text. These are closed, and the seeds that had them have none. Then 1
// was shown in 14 million of both, and is closed. Of 6 million of the kinds that are the hardest
// to tell from names, short letters in groups, 1 was. So more seeds may show a few.
//
// Of names, as whole values, 98 % are shown of names.txt and 97 % of services.txt, for both of
// which words were added after a first look. Of unseen.txt 86 % are shown. It was written later, with
// more codes of airports and words of other languages, and no word was added because of it.
//
// # What is not told apart
//
// The id of a Docker container, which is the name of its host, the id of an EC2 instance,
// and long serial numbers are random by themselves; a name that no word helps to recognise
// (zx81-qq) is none. A public address of IPv4 looks like a nonce in groups of digits, if it has
// 12 characters. None of these is shown, unless a person
// says so with a pattern, which is for the caller to apply.
//
// The functions are pure and safe for concurrent use.
package legible
