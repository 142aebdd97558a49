// Package foreground implements the protocol of coordtop acquire and coordtop campaign: it owns or leads one primitive
// for as long as a person or a script wants, executes the lines that it reads, and writes a line of JSON for each
// change. It acts through an Operator, which guards and records each action.
//
// It may import internal/action, internal/headless, sources, internal/ground/*.
//
// # Lines in
//
//	proclaim TEXT   replaces the data that others see, once it is ours
//	wait            with Options.Enqueue: waits at the place in the queue that was taken
//	notify C TEXT   with Options.Notify: sends TEXT to all who listen to the channel C
//	resign          gives it up, or ends the wait
//
// The end of the input also resigns, if the input has another end that can go away (see Ends). Any other line is
// answered with "refused"; an empty line is ignored.
//
// # Lines out
//
// Out has only these lines, in the form of headless.Held: "enqueued" with Options.Enqueue; "acquired" once; then "proclaimed", "notified" or "refused" for each
// line that was read, in order, and between them "notification" for each of Options.Notices; "resigning" before a request to give it up is sent; finally "resigned" or "lost". With
// Options.Reopen "lost" is followed by the next "acquired". Err has sentences for people about the owner that it waits
// for, or why the wait makes no progress, whenever that changes.
//
// Release ends by force what somebody else owns, and writes one line.
package foreground
