package sqlite

import "golang.org/x/sys/unix"

// room is how many bytes are free for us where path is, and how many there are.
func room(path string) (free, all int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
