// Package certs reads the TLS files of a connection: the authorities to trust, and our own certificate.
//
// It may import internal/ground/files, internal/ground/format.
package certs
