package localserver_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"coordtop/internal/localserver"
)

// childEnv makes this test binary a parent that starts a server, tells where it is and
// waits to be killed.
const childEnv = "COORDTOP_LOCALSERVER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(beParent())
	}
	if programs := os.Getenv("COORDTOP_TEST_PROGRAMS"); programs != "" { // clusters are made here, not copied
		if err := os.Setenv("PATH", strings.TrimPrefix(os.Getenv("PATH"), programs+":")); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

func beParent() int {
	var server interface {
		Pid() int
		Dir() string
	}
	var err error
	if os.Getenv(childEnv) == "postgres" {
		server, err = localserver.StartPostgres(context.Background(), localserver.PostgresOptions{})
	} else {
		server, err = localserver.StartRedis(context.Background(), localserver.RedisOptions{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("%d %s\n", server.Pid(), server.Dir())
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed
	return 0
}
