// Package certs reads the files that encrypt a connection: whom to trust, and who we are.
//
// It may import internal/ground/files, internal/ground/format.
package certs
