package dflockwire

import (
	"bufio"
	"bytes"
)

// ParseStats reads an answer to stats.
func ParseStats(answer []byte, each func(*Entry)) (s Stats, err error) {
	err = s.take(bufio.NewReader(bytes.NewReader(answer)), each)
	return s, err
}
