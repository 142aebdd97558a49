package demo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// installing is a demo whose Postgres is missing in a folder of its own, and the log of who installs it.
func installing(t *testing.T) (d *Demo, bin, log string) {
	t.Helper()
	localserver.NeedsServer(t)
	bin, err := os.MkdirTemp("", "coordtop-bin-") // those of the test are ours alone, and Postgres is not root
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(bin) })
		err = os.Chmod(bin, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := quiet()
	o.PostgresBin, o.Installing = bin, filepath.Join(t.TempDir(), "install.log")
	if d, err = Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d, bin, o.Installing
}

// changed returns what an endpoint waits for when it is not before any more.
func changed(t *testing.T, e Endpoint, before error) error {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := e.Waits(); err == nil || err.Error() != before.Error() {
			return err
		}
	}
	t.Fatalf("still %v", before)
	return nil
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatIsInstalledMeanwhileJoins(t *testing.T) {
	t.Parallel()
	d, bin, log := installing(t)
	e := d.Endpoints()[1]
	if e.Err != nil || e.Waits == nil || e.Waits().Error() != "postgres is being installed: see "+log || !strings.HasPrefix(e.View, e.URL+"&election=") {
		t.Fatalf("got %+v", e)
	}
	write(t, log, "Unpacking\n")
	for _, there := range []string{"initdb", "postgres"} {
		programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + there)
		if err != nil || len(programs) == 0 {
			t.Skip("Postgres is not where Debian puts it")
		}
		if err := os.Symlink(programs[0], filepath.Join(bin, there)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, log, "Unpacking\nSetting up\n"+Installed+"\n")
	if err := changed(t, e, e.Waits()); err != nil {
		t.Fatal(err)
	}
	if got := d.servers[1].URL(); got != e.URL {
		t.Errorf("it is at %s, and was to be at %s", got, e.URL)
	}
}

func TestAServerThatCannotBeInstalledSaysWhy(t *testing.T) {
	t.Parallel()
	d, _, log := installing(t)
	e := d.Endpoints()[1]
	write(t, log, "Reading\nE: no space left\n"+NotInstalled+"\n")
	if err := changed(t, e, e.Waits()); err == nil || err.Error() != "postgres could not be installed: E: no space left: see "+log {
		t.Errorf("got %v", err)
	}
}
