// Package foreground implements the protocol of coordtop acquire and coordtop campaign: it owns or leads one
// primitive for as long as a person or a script wants, obeys the lines that it reads, and writes a line of JSON
// for each change. It acts through an Operator, which guards and records each action.
//
// It may import internal/action, internal/headless, sources, internal/ground/*.
//
// # Lines in
//
//	proclaim TEXT   replaces the data that others see, once it is ours
//	resign          gives it up, or ends the wait
//
// The end of the lines resigns too, if they had another end (see Ends). Any other line is answered with "refused";
// an empty line is ignored.
//
// # Lines out
//
// On Out, each in the form of headless.Held: "acquired" once; then "proclaimed" or "refused",
// one for each line that was read, in their order; "resigning" before anything is sent to give it up;
// last "resigned" or "lost". Nothing else is written there. Err tells people whom it waits for, or why the wait
// makes no progress, whenever that changes.
//
// Release ends by force what another owns, and writes one line.
package foreground
