// Package glob reads patterns for names in the language of Redis's KEYS and SCAN. The parameters of our URLs and
// "watch" in our config select names with such patterns, on every backend that can list names.
//
// It may import nothing of this module.
//
// A pattern without a wildcard is a name. Matching agrees with Redis, byte by byte. It takes time proportional to the
// product of both lengths at most, because it never backtracks over more than one star.
package glob
