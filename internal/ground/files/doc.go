// Package files reads the files that people name: configs, passwords, certificates. A path may lead to anything, so
// Read never waits for longer than five seconds, never reads more than the caller allows, and opens no device. It also
// opens the files that the program itself writes, the log and the audit: see [OpenPrivate].
//
// It may import internal/ground/format, internal/ground/spawn.
//
// # Errors
//
// A path may hold a secret that was written in the wrong place. An error repeats a path only if something exists at it;
// otherwise it names the part of the path that exists. The errors wrap those of the operating system, such as
// fs.ErrNotExist, without their text, which contains the path.
//
// Everything here is safe for concurrent use.
package files
