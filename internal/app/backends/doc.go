// Package backends is the one list of the kinds of servers that coordtop can watch. All that is
// known of one kind is its entry: how its URLs, its keys in a config and its variables are read
// (package config does it by the entry), how a config becomes its source and its driver, and
// how people are told of it. What differs between backends stands nowhere else above their
// own packages.
//
// A new backend is its packages, a file here with its entry, and a line in All. An entry with
// NotYet is a promise only: its URLs are read, and refused with a sentence.
package backends
