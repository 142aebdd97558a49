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

// freePort returns a port that was free a moment ago. Another program may take it before
// the server does: see portTaken.
func freePort() (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
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

// randomName is a part of a file name that nobody can guess.
func randomName() string { return strings.ToLower(rand.Text())[:16] }
