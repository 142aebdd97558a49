// Package manpage writes the manual page of the program, in the man macros of roff. The page of package fang leaves out
// the long help of the commands.
//
// It may import internal/headless, internal/help.
package manpage
