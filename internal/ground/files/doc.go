// Package files reads the files that people name: configs, passwords, certificates. What
// stands at a path may be anything, so that Read never waits for longer than five seconds,
// never reads more than it was allowed, and opens no device. It also opens the files that the
// program writes for itself, the log and the audit: see [OpenPrivate].
//
// # Errors
//
// A path may hold a secret that was written in the wrong place. An error repeats a path only
// where something stands at it; of another it names the folder that is there. The errors wrap
// what the operating system said, as fs.ErrNotExist, without its text, which has the path.
//
// Everything here is safe for concurrent use.
package files
