package drill

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// mostFiles bounds the descriptors that cutOff looks at. A candidate has some ten.
const mostFiles = 1024

// cutOff closes each network connection of this process for good, and keeps it from making another one: as after a
// cable was pulled whose other end answers with resets.
func cutOff() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("reading the limit of open files: %w", err)
	}
	limit.Cur = 0 // for new ones
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("allowing no more connections: %w", err)
	}
	var errs []error
	for fd := range mostFiles {
		if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
			continue // no socket
		}
		if err := unix.Shutdown(fd, unix.SHUT_RDWR); err != nil && !errors.Is(err, unix.ENOTCONN) {
			errs = append(errs, fmt.Errorf("closing a connection: %w", err))
		}
	}
	return errors.Join(errs...)
}
