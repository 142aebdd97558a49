package liartest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Redis is a server that reads commands as Redis does and answers what the test wants.
type Redis struct{ *server }

// Answer writes the answer to one command. Its error ends the connection.
type Answer func(w io.Writer, command []string) error

// RedisForTest starts a Redis that is closed when the test ends. It calls answer with one command after the other of a
// connection, and concurrently for several connections.
func RedisForTest(t TB, answer Answer) *Redis {
	t.Helper()
	return &Redis{listen(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for {
			command, err := readCommand(r)
			if err != nil || answer(c, command) != nil {
				return
			}
		}
	})}
}

func readCommand(r *bufio.Reader) ([]string, error) {
	n, err := readLength(r, '*')
	if err != nil {
		return nil, err
	}
	command := make([]string, 0, n)
	for range n {
		size, err := readLength(r, '$')
		if err != nil {
			return nil, err
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(r, word); err != nil {
			return nil, err
		}
		command = append(command, string(word[:size]))
	}
	return command, nil
}

func readLength(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("%q begins no command", line)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// Say answers with text.
func Say(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// Endlessly writes text again and again until the client hangs up.
func Endlessly(w io.Writer, text string) error {
	block := strings.Repeat(text, 1+32<<10/len(text))
	for {
		if _, err := io.WriteString(w, block); err != nil {
			return err
		}
	}
}

// Honest answers the commands of a watcher as an empty Redis does. An Answer that lies about some commands calls it for
// the others.
func Honest(w io.Writer, command []string) error {
	switch name := strings.ToLower(command[0]); name {
	case "hello":
		return Say(w, "%1\r\n$5\r\nproto\r\n:3\r\n")
	case "ping":
		return Say(w, "+PONG\r\n")
	case "info":
		return Say(w, Text("redis_version:7.0.15\r\n"))
	case "role":
		return Say(w, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n")
	case "scan":
		return Say(w, "*2\r\n$1\r\n0\r\n*0\r\n")
	case "pttl":
		return Say(w, ":-2\r\n")
	case "strlen", "dbsize":
		return Say(w, ":0\r\n")
	case "getrange":
		return Say(w, "$0\r\n\r\n")
	case "client":
		if strings.EqualFold(command[1], "id") {
			return Say(w, ":7\r\n")
		}
	case "subscribe", "psubscribe":
		for i, channel := range command[1:] {
			if err := Say(w, fmt.Sprintf(">3\r\n$%d\r\n%s\r\n%s:%d\r\n", len(name), name, Text(channel), i+1)); err != nil {
				return err
			}
		}
		return nil
	}
	return Say(w, "+OK\r\n")
}

// Text returns s as a string of RESP.
func Text(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }

// But returns an Answer that calls lie for commands that begin with words, and a for all others.
func (a Answer) But(words string, lie Answer) Answer {
	return func(w io.Writer, command []string) error {
		if strings.HasPrefix(strings.ToLower(strings.Join(command, " ")), words) {
			return lie(w, command)
		}
		return a(w, command)
	}
}

// About returns an Answer that calls lie for commands that begin with words, and Honest for all others.
func About(words string, lie Answer) Answer { return Answer(Honest).But(words, lie) }

// Always returns an Answer that writes text.
func Always(text string) Answer {
	return func(w io.Writer, _ []string) error { return Say(w, text) }
}

// Ever returns an Answer that writes text again and again.
func Ever(text string) Answer {
	return func(w io.Writer, _ []string) error { return Endlessly(w, text) }
}
