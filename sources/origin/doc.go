// Package origin finds out where an owner or a waiter runs: its host, its program and its session.
//
// It may import sources, internal/ground/lazy.
//
// It takes each fact from the first of these that has it: the attributes that an `owners:` rule of the config has set
// ([sources.HostAttr], [sources.ProgramAttr]); the report of the server (the address of a Postgres client, unless it is
// loopback, its application); the form of the label (host:pid, user@host:pid, uuid@host, or the name of a Kubernetes
// pod). Other facts stay empty: a host is never guessed from an ambiguous word.
//
// Everything here is pure, and safe for concurrent use but for one [Labels] that is not nil.
package origin
