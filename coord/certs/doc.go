// Package certs reads the TLS files of a connection: the authorities to trust, and our own certificate. The drivers read
// them again for each new client, because the certificates may be new.
//
// It may import internal/ground/files, internal/ground/format.
package certs
