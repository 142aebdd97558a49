// Package backends is the one list of the kinds of servers that coordtop can watch. All that is
// known of one kind is its entry: how its URLs, its keys in a config and its variables are read
// (package config does it by the entry), how a config becomes its source and its driver, and
// how people are told of it. Differences between backends stand nowhere else above their
// own packages, but for their roles in package demo.
//
// A new backend is its packages, a file here with its entry, and a line in All.
//
// # URLs beside what package config says of all
//
// Of Postgres, locks (the same as keys) and channels are ours too, semaphore is an error,
// and a value is a list with commas: 4242,17:-4. A comma in a name is %2C.
//
// Of YDB, node is ours too: the path of a coordination node, on which the names are looked
// for; with several of them each name on each. A name is a whole name there: patterns need
// a list of what there is, which YDB does not give.
package backends
