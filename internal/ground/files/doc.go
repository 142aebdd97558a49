// Package files reads the files that people name: configs, passwords, certificates. A path may lead to
// anything, so Read never waits for longer than five seconds, never reads more than it was allowed, and opens
// no device. It also opens the files that the program writes for itself, the log and the audit: see
// [OpenPrivate].
//
// It may import internal/ground/format, internal/ground/spawn.
//
// # Errors
//
// A path may hold a secret that was written in the wrong place. An error repeats a path only where something
// exists at it; otherwise it names the folder that exists. The errors wrap those of the operating system, as
// fs.ErrNotExist, without their text, which has the path.
//
// Everything here is safe for concurrent use.
package files
