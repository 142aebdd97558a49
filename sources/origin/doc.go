// Package origin finds out where an owner or a waiter runs: its host, its program and its session.
//
// It may import sources, internal/ground/lazy.
//
// The answer comes, in this order, from the attributes that an `owners:` rule of the config set
// ([sources.HostAttr], [sources.ProgramAttr]), from what the server reports (the address of a Postgres
// client, its application), and from the form of the label: host:pid, user@host:pid, uuid@host, or the
// name of a Kubernetes pod. What none of these says stays empty: a host is never guessed from a word that
// only might be one.
//
// Everything here is pure and safe for concurrent use.
package origin
