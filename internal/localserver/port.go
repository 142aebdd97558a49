package localserver

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// loopback is the only address that servers of ours listen on.
const loopback = "127.0.0.1"

// FreePort returns a port that was free a moment ago. Another program may take it before the server does, see
// portTaken.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// bindPort binds a free port without listening on it. The caller must call free.
func bindPort() (port int, free func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("taking a port: %w", err)
	}
	syscall.CloseOnExec(fd)
	free = func() { _ = syscall.Close(fd) }
	err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		var bound syscall.Sockaddr
		if bound, err = syscall.Getsockname(fd); err == nil {
			return bound.(*syscall.SockaddrInet4).Port, free, nil
		}
	}
	free()
	return 0, nil, fmt.Errorf("taking a port: %w", err)
}

// portTaken reports whether somebody listens on port now.
func portTaken(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return errors.Is(err, syscall.EADDRINUSE)
	}
	l.Close()
	return false
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// randomName returns a part of a file name that nobody can guess.
func randomName() string { return strings.ToLower(rand.Text())[:16] }
