// Package endpoint serves metrics and health over HTTP, to programs that are not trusted: /metrics, /healthz and /readyz.
//
// It may import internal/ground/failure, internal/ground/spawn.
//
// One scrape is worked on at a time, into memory; others wait for it. A client that reads slowly therefore delays only
// itself, and is cut off after ten seconds. A request may have no body, and 8 kB of headers. At most 64 connections are
// open; one more closes the one that has asked for nothing for longest. Nothing that a client sends is used but the path
// and the formats it accepts.
//
// /healthz and /readyz report nothing about the watched servers: a load balancer or Kubernetes that asks them must
// not restart coordtop because a server is down, which is when it is needed.
package endpoint
