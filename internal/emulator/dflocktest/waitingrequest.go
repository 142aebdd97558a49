package dflocktest

import (
	"bufio"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// The most bytes of a line, without its end.
const (
	mostLine       = 256
	mostSecretLine = 64 << 10
)

var errLineTooLong = errors.New("line too long")

// readLine reads a line and returns it without its LF or CR LF.
func readLine(r *bufio.Reader, most int) (string, error) {
	var line []byte
	for {
		b, err := r.ReadByte()
		switch {
		case err != nil:
			return "", err
		case b == '\n':
			return strings.TrimSuffix(string(line), "\r"), nil
		case len(line) == most:
			return "", errLineTooLong
		}
		line = append(line, b)
	}
}

// request is the meaning of a command's three lines.
type request struct {
	verb      string // "l" also for sl, and so on; "auth", "stats", "ping"
	semaphore bool
	key       string
	nonce     string // of r and n
	secret    string // of auth
	wait      time.Duration
	lease     time.Duration // 0: the server's default
	limit     int
}

// The largest numbers that a server with bounds accepts.
const (
	mostSeconds = 9_223_372_036 // longer times do not fit into a time.Duration
	mostLimit   = 1_048_576
)

// parse reports whether the lines are a request that the server understands. Without bounds, too many seconds overflow
// the time.Duration.
func parse(command, key, argument string, bounds bool) (request, bool) {
	r := request{verb: command, key: key, limit: 1}
	switch command {
	case "auth":
		r.secret = argument
		return r, true
	case "stats", "ping":
		return r, true
	case "sl", "sr", "sn", "se", "sw":
		r.verb, r.semaphore = command[1:], true
	case "l", "r", "n", "e", "w":
	default:
		return request{}, false
	}
	if key == "" || strings.ContainsAny(key, " \t\r\n") {
		return request{}, false
	}
	fields, ok := strings.Fields(argument), true
	number := func(least, most int) int { // the next number of the argument
		if !bounds {
			most = math.MaxInt
		}
		if len(fields) == 0 {
			ok = false
			return 0
		}
		n, err := strconv.Atoi(fields[0])
		fields, ok = fields[1:], ok && err == nil && n >= least && n <= most
		return n
	}
	switch r.verb {
	case "l", "w":
		r.wait = time.Duration(number(0, mostSeconds)) * time.Second
	case "r", "n":
		if len(fields) == 0 {
			return request{}, false
		}
		r.nonce, fields = fields[0], fields[1:]
	}
	claims := r.verb == "l" || r.verb == "e"
	if claims && r.semaphore {
		r.limit = number(1, mostLimit)
	}
	given := len(fields) > 0 && (claims || r.verb == "n")
	if given {
		r.lease = time.Duration(number(1, mostSeconds)) * time.Second
	}
	if r.lease <= 0 && given && (command != "e" || bounds) { // e checks it before the overflow
		return r, false
	}
	return r, ok && len(fields) == 0
}
