// Package config turns a YAML file, or URLs on the command line, into a checked list of sources.
//
// It may import coord/certs, internal/diagnose, internal/history, internal/objective, sources, sources/verdict, internal/ground/*.
//
// # Strictness
//
// People read a config at night and edit it in a hurry, so nothing is guessed: an unknown key, a key given twice, a
// duration without a unit and a secret in a URL are problems. All problems are reported together, each with its line
// and column. The package decodes the syntax tree of goccy/go-yaml itself, because the strict mode of that library
// stops at the first problem.
//
// # Secrets
//
// A config file has no secrets, only the places of secrets: an environment variable, a file that others cannot read, or
// a command. A secret is read when a connection needs it, so that a rotated secret is used without a restart. No error
// and no String contains a secret. A password may be in a URL on the command line, in REDIS_URL, DATABASE_URL or
// YDB_CONNECTION_STRING, and in a service file of libpq.
//
// Reading any file or command takes bounded time and memory: package files reads the files, a command has
// ten seconds and 64 kB, and the size of a config is bounded.
//
// A text that the package does not understand is not repeated, because it may be a secret in the wrong place. The
// problem gives only the position of the text: a line and column, the number of an argument, or a key.
//
// # URLs
//
// A source is a URL of its backend. The parameters keys, election, mutex and semaphore are ours and may be repeated.
// They are removed, and the backend's own parser gets the rest unchanged. In our parameters %XX is decoded, but a +
// stays a +, because the name of a key is more likely to have a + than a space.
//
// # Backends
//
// The package names no backend: its caller supplies Backends with the schemes, parameters, variables and keys of each.
//
// # Names
//
// A source without a name gets a short unique one: its hosts without ports, or its type ("redis", "postgres") if
// another source has the same hosts, or its hosts with ports. That name may change once more sources are watched, so
// scripts that use SOURCE/NAME should set it in the config.
//
// The package only reads the files that it is given and runs the password commands; it connects to no server.
package config
