//go:build !linux

package sqlite

import "golang.org/x/sys/unix"

// remote reports whether a folder is on a network file system, on which a WAL would be damaged.
func remote(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Flags&unix.MNT_LOCAL == 0
}
