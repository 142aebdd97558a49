package coord_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// outside builds the program in testdata/outside in a module of its own, which replaces coordtop with this tree.
func outside(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "outside"))); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	noError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	noError(t, err)
	noError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	mod := "module example.com/outside\n\ngo 1.26.0\n\nrequire coordtop v0.0.0\n\nreplace coordtop => " + root + "\n"
	noError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "outside", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod -tags=grpcnotrace", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return filepath.Join(dir, "outside")
}

func TestAModuleOutsideTheTreeCoordinatesOnEachBackend(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	raced.Alone(t, "it builds a program, in which the detector is not")
	program := outside(t)
	ydb, err := ydbtest.Start(ydbtest.Options{})
	noError(t, err)
	t.Cleanup(func() { _ = ydb.Close() })
	noError(t, ydb.CreateNode("/local/n"))
	dflockd, err := dflocktest.Start(dflocktest.Options{})
	noError(t, err)
	t.Cleanup(func() { _ = dflockd.Close() })
	const led = "mutex true true\nleader true\nresigned: released\n"
	for backend, c := range map[string]struct{ url, want string }{
		"redis":    {localserver.RedisForTest(t, localserver.RedisOptions{}).URL(), led},
		"postgres": {localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL(), led},
		"ydb":      {ydb.URL(0) + "?node=/local/n", led + "permits true\n"},
		"dflockd":  {"dflockd://" + dflockd.Addr(), led + "permits true\nanother limit true\nkey pool, idle: true\nconnections true\n"},
	} {
		var said strings.Builder
		run := exec.CommandContext(t.Context(), program, backend, c.url)
		run.Stderr = &said
		out, err := run.Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %v, %q, want %q\n%s", backend, err, out, c.want, said.String())
		}
		if !strings.Contains(said.String(), "coordination term begins") {
			t.Errorf("%s: the log has no term:\n%s", backend, said.String())
		}
	}
}
