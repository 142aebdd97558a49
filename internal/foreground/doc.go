// Package foreground is the protocol of coordtop acquire and coordtop campaign: it owns or
// leads one primitive for as long as a person or a script wants, obeys lines that come in, and
// writes a line of JSON for all that becomes of it. It acts through an Operator, which guards
// and records all that is done.
//
// # Lines in
//
//	proclaim TEXT   replaces the data that others see, once it is ours
//	resign          gives it up, or ends the wait
//
// The end of the lines resigns too, where somebody was at their other end (see Ends). Any
// other line is answered with "refused", an empty one with nothing.
//
// # Lines out
//
// On Out, each in the form of headless.Held: "acquired" once; then "proclaimed" or "refused",
// one for each line that came in, in their order; "resigning" before anything is sent to give it up;
// last "resigned" or "lost". Nothing else is written there. For whom it waits, and what keeps the wait
// from getting on, is told to people on Err, when that changes.
//
// Release is the other way round: it ends by force what another owns, and writes one line.
package foreground
