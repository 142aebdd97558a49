// Package config turns what a person wrote, a YAML file or URLs on the command line,
// into a list of sources that is known to be well formed.
//
// # Strictness
//
// A config is read by people at night and edited by people in a hurry, so nothing is
// guessed: an unknown key, a key given twice, a duration without a unit and a secret
// in a URL are problems, each with its line and column, and all of them are reported
// at once. The decoder is our own walk over goccy/go-yaml's syntax tree, because the
// strict mode of that library stops at the first problem.
//
// # Secrets
//
// A file holds no secret, only where to find it: an environment variable, a file that
// others cannot read, or a command. Secrets are read when a connection needs them, so
// that a rotated one is picked up without a restart, and they are never part of an
// error or of a String. A URL on the command line, in REDIS_URL, DATABASE_URL or
// YDB_CONNECTION_STRING, and a service file of libpq may hold a password.
//
// Whatever a file or a command turns out to be costs an error, bounded time and memory: files
// are read by package files, a command has ten seconds and 64 kB, and a config is measured
// before the parser gets it.
//
// What is not understood is not repeated, since it may be a secret in the wrong place: a
// problem says where it is, by line and column, by the number of an argument, by a key.
//
// # URLs
//
// A source is a URL of its backend. The parameters keys, election, mutex and semaphore
// are ours and may be repeated; they are taken out, and the rest is handed to the
// backend's own parser untouched. In them %XX is decoded and + stays a +, since + is
// likelier in a key's name than a space is.
//
// # Backends
//
// The package names no backend: Backends are given to it, and say which schemes, parameters,
// variables and keys each of them has.
//
// # Names
//
// A source without a name gets the shortest that tells it from the others: its hosts without
// ports, or its type where another source has the same hosts ("redis", "postgres"), or its
// hosts with ports. So it may be another one once more sources are watched: where it is
// written down, as in SOURCE/NAME, the config gives it.
//
// The package does no input or output beyond reading the files that it is told of
// and running the password commands; it talks to no server.
package config
