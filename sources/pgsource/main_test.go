package pgsource

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// childEnv makes this test binary an owner of lock 4242 that waits to be killed.
const childEnv = "COORDTOP_PGSOURCE_CHILD"

func TestMain(m *testing.M) {
	if url := os.Getenv(childEnv); url != "" {
		if err := own(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	for _, p := range idleServers.list {
		if err := p.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func own(url string) error {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(context.Background(), "select pg_advisory_lock(4242)"); err != nil {
		return err
	}
	fmt.Println(conn.PgConn().PID())
	_, err = os.Stdin.Read(make([]byte, 1)) // until killed
	return err
}

// ownerProcess starts another process that owns lock 4242.
func (r *rig) ownerProcess() (pid uint32, kill func()) {
	r.t.Helper()
	program, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), childEnv+"="+r.server.URL())
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	stdin, err := c.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	kill = func() {
		_ = c.Process.Kill() // it may be gone
		_ = c.Wait()         // it was killed
	}
	r.t.Cleanup(func() { kill(); stdin.Close() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		r.t.Fatalf("the owner's process: %v", err)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(line), 10, 32)
	if err != nil {
		r.t.Fatal(err)
	}
	return uint32(n), kill
}
