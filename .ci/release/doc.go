// Command release builds what people install: a static program for each target, archives, Debian and RPM
// packages, an image, a list of what is in them, a changelog and checksums, all into one folder. It is a
// module of its own, so that the program's module does not depend on tools.
//
// The same commit gives the same bytes: nothing depends on the folder, the clock or the person. Times are that
// of the commit, or SOURCE_DATE_EPOCH.
//
// What only the person who publishes can know, as who maintains the packages, is "unset" until it is given.
package main
