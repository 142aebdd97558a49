package localserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const redisInstallHint = "install it: apt-get install redis-server (Debian, Ubuntu), " +
	"dnf install valkey (Fedora), apk add redis (Alpine), brew install redis (macOS)"

// redisProgram returns the path of the server's program.
func redisProgram(o RedisOptions) (string, error) {
	names := []string{"redis-server", "valkey-server"}
	if o.Program != "" {
		names = []string{o.Program}
	}
	for _, name := range names {
		if program, err := exec.LookPath(name); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("%s is %w: %s", names[0], ErrMissing, redisInstallHint)
}

// redisConf writes the configuration. It is a file, because every user of the machine could read arguments and the
// passwords in them.
func redisConf(r *Redis) []byte {
	var b bytes.Buffer
	line := func(words ...string) { fmt.Fprintln(&b, strings.Join(words, " ")) }
	line("bind", loopback)
	line("daemonize no")
	line("dir", quoted(r.guard.dir))
	line("pidfile", quoted(r.file("redis.pid")))
	line(`logfile ""`)
	line(`save ""`)
	if r.options.Keep {
		line("appendonly yes")
		line("appendfsync always")
		line("auto-aof-rewrite-percentage 0")
	}
	port := strconv.Itoa(r.port)
	if r.options.TLS {
		line("port 0")
		line("tls-port", port)
		line("tls-cert-file", quoted(r.files.Cert))
		line("tls-key-file", quoted(r.files.Key))
		line("tls-ca-cert-file", quoted(r.files.CA))
		if r.options.ClientCert {
			line("tls-auth-clients yes")
		} else {
			line("tls-auth-clients optional")
		}
	} else {
		line("port", port)
	}
	if r.options.Password != "" {
		line("requirepass", quoted(r.options.Password))
	}
	for _, rule := range r.options.Users {
		line("user", rule)
	}
	if r.options.Master != "" {
		host, master, _ := net.SplitHostPort(r.options.Master)
		line("sentinel resolve-hostnames yes")
		line("sentinel announce-hostnames yes")
		line("sentinel monitor main", host, master, "1")
		line("sentinel down-after-milliseconds main 500")
		line("sentinel failover-timeout main 5000")
	}
	for _, extra := range r.options.Config {
		line(extra)
	}
	return b.Bytes()
}

// quoted returns s as a quoted word of redis.conf.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// pidFileNames reports whether the file holds pid. Redis writes it once it listens.
func pidFileNames(file string, pid int) bool {
	text, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(pid)
}

// redisAnswers sends one PING and reports whether the server is up. A server that refuses PING because a password or a
// right is missing is up; a server that still loads its data is not.
func redisAnswers(ctx context.Context, addr string, config *tls.Config) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return false
		}
	}
	if config != nil {
		conn = tls.Client(conn, config)
	}
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	answer := make([]byte, 5)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return false
	}
	return string(answer) == "+PONG" || string(answer) == "-NOAU" || string(answer) == "-NOPE"
}

// logTail returns the end of a server's log, on one line, for the text of an error.
func logTail(file string) string {
	const most = 400
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) || len(bytes.TrimSpace(text)) == 0 {
		return "its log is empty"
	}
	if err != nil {
		return "its log cannot be read"
	}
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return strings.Join(strings.Fields(string(text)), " ")
}
