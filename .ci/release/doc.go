// Command release builds everything that people install: a static program for each target, archives, Debian and RPM
// packages, an image, lists of their modules, a changelog and checksums, all in one folder. It is a separate module, so
// that the program's module does not depend on tools.
//
// The same commit gives the same bytes: nothing depends on the folder, the clock or the person. All times are the time
// of the commit, or SOURCE_DATE_EPOCH.
//
// Facts that only the publisher knows, such as the maintainer of the packages, are "unset" by default.
package main
