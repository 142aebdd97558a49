// Package glob reads patterns for names in the language of Redis's KEYS and SCAN, in which
// the parameters of our URLs and the "watch" of our config select names on every backend
// that can list them.
//
// It may import nothing of this module.
//
// A pattern without a wildcard is a name. Matching agrees with Redis, byte by byte, and costs
// at most the product of both lengths: there is no backtracking over more than one star.
package glob
