// Package backends has the one list of the kinds of servers that coordtop can watch. The entry of a kind has all
// that is specific to it: its URLs, its keys in a config and its variables (package config reads them by the
// entry), its source and its driver, and its texts for people. Differences between backends stand nowhere else
// above their own packages, but for their roles in package demo.
//
// It may import coord, coord/*, internal/action, internal/config, internal/operate, sources,
// sources/*source, internal/ground/*.
//
// A new backend needs its own packages, a file with its entry here, and its name in All; and texts: a section and
// the parameters in internal/help/urls.md, its rights in rights.md, and the config's schema (make golden).
//
// # URLs beside what package config says of all
//
// Of Postgres, locks (the same as keys) and channels are ours too, semaphore is an error,
// and a value is a list with commas: 4242,17:-4. A comma in a name is %2C.
//
// Of YDB, node is ours too: the path of a coordination node that has the names. With several nodes, each name is
// read on each. Names are whole names: patterns need a list of all names, which YDB does not give.
package backends
