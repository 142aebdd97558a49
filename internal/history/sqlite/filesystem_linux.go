package sqlite

import (
	"slices"

	"golang.org/x/sys/unix"
)

// remote reports whether a folder is on a network file system, on which a WAL would be damaged because machines do not
// share mapped memory.
func remote(path string) bool {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return false
	}
	return slices.Contains([]uint32{unix.NFS_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.SMB_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC}, uint32(s.Type))
}
