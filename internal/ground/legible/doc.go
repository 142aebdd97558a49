// Package legible finds the part of a value that can be shown although the value may prove ownership: the part that is
// positively a name. A value that is not recognised as a name is treated as a secret.
//
// It may import nothing of this module.
//
// # What a name is
//
// A name is words, short numbers and abbreviations, joined by - . _ and, between its parts, by one : @ / or blank: a
// host, host:pid, user@host, an address, a pod of Kubernetes. A word is one of frequent.txt or words.txt, two of these
// written as one, or a text of up to 11 letters that reads like one of these (letters.go). A text of up to 7 letters
// that hardly reads like a word is accepted only if the words beside it are sure enough. Forms that clouds give their
// machines are in forms.go.
//
// # How sure it is
//
// A random text can be made of words by accident. Therefore each word has a cost: the bits that it takes to pick it out
// of all texts that would be accepted in its place. A stretch of a name is believed only if it costs fewer bits than a
// random text of the same make-up, that is of the same length, with the same separators, drawn from the letters, digits
// and cases that occur in it.
//
// A nonce has at least 12 characters, so every stretch of 12 and more must save bits of its own: 21 if it is the whole
// value, 20 if there is text before or after it, 18 if there is text on both sides, and 2 fewer at each end without a
// separator, because few nonces touch text directly. Separators save nothing, because some nonces are written in
// groups; but two kinds of separators save 5 bits if the whole value is a name. If a word at an end of a stretch may be
// text and a piece of a nonce written as one, only that piece counts. Two unknown abbreviations side by side are never
// shown, and neither are eight digits in a row.
//
// If only a part of a value is a name, text beside the nonce may be shown. Beside a UUID, or another nonce that cannot
// be a group of something longer, every name is shown. Otherwise only one part between : @ / and blanks is shown: one
// of 8 to 11 characters must save 17 bits, a longer one 4 bits more than in a value that is all a name. Less than 8
// characters do not disclose a nonce.
//
// Three or more words may be a passphrase if none of them is usual in the names of programs, hosts and people. None of
// these words is shown (phrase.go).
//
// A nonce without a separator is never shown, because no word outside the lists has more than 11 letters.
//
// # What was measured
//
// Two generators of nonces, in sources/redissource and in nonces_test.go, were written independently. Of 20 million
// nonces of this package's generator (seeds 102 to 121) 5 were shown, and of 17 million of the other (seeds 2 to 18) 4:
// a CronJob of digits alone, an address with a nonce as a part, signs that join a nonce to text. Since these were
// fixed, the same seeds show none. Then 1 of 14 million of both was shown, and fixed. Of 6 million nonces of the
// hardest kind, short letters in groups, 1 was shown. So more seeds may show a few.
//
// Of the names in names.txt 98 % are shown as whole values, and of services.txt 97 %; words were added to the lists
// after a first run over both. Of unseen.txt 86 % are shown. That file was written later, with more airport codes and
// words of other languages, and no word was added because of it.
//
// # What cannot be distinguished
//
// The id of a Docker container, which is the name of its host, the id of an EC2 instance, and long serial numbers are
// random by themselves; a name without any known word (zx81-qq) cannot be recognised; and a public IPv4 address of 12
// characters or more looks like a nonce in groups of digits. None of these is shown, unless a person allows it with a
// pattern, which the caller applies.
//
// The functions are pure and safe for concurrent use.
package legible
