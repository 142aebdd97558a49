// Package certs reads the files that encrypt a connection: whom to trust, and who we are.
package certs
