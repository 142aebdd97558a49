package incidents

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	program = flag.String("program", "", "record the incidents with this program, and read the answers with it")
	keep    = flag.String("keep", "", "leave the recordings in this folder")
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// patience is how long something may take that has to come.
const patience = time.Minute

// incident is one that is recorded.
type incident struct {
	*testing.T
	home string // of the engineer on call, whose coordtop records
	file string // the exported recording
}

// newIncident prepares the recording of the sources that the text of a config names.
func newIncident(t *testing.T, sources string) *incident {
	t.Helper()
	i := &incident{T: t, home: t.TempDir()}
	dir := i.home
	if *keep != "" {
		dir = *keep
	}
	i.file = filepath.Join(dir, t.Name()[len("Test"):]+".coordtop")
	_ = os.Remove(i.file) // of the last time
	configure(t, i.home, "title: prod-eu\n"+sources)
	return i
}

func skipUnlessAsked(t *testing.T) {
	t.Helper()
	if *program == "" {
		t.Skip("make incidents records them and asks the questions")
	}
}

func configure(t *testing.T, home, config string) {
	t.Helper()
	dir := filepath.Join(home, ".config", "coordtop")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command is the program as a person with this home runs it.
func command(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(*program, args...)
	cmd.Env = []string{"HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	return cmd
}

// recorder is a running `coordtop record`.
type recorder struct {
	i    *incident
	cmd  *exec.Cmd
	errs bytes.Buffer
}

// record begins to record.
func (i *incident) record() *recorder {
	i.Helper()
	r := &recorder{i: i, cmd: command(i.T, i.home, "record")}
	r.cmd.Stderr = &r.errs
	if err := r.cmd.Start(); err != nil {
		i.Fatal(err)
	}
	i.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
	})
	return r
}

// kill ends the recorder as kill -9 does, and returns when.
func (r *recorder) kill() moment {
	r.i.Helper()
	from := time.Now()
	if err := r.cmd.Process.Kill(); err != nil {
		r.i.Fatal(err)
	}
	_ = r.cmd.Wait() // it was killed
	return moment{from, time.Now()}
}

// stop ends the recording, and exports it.
func (r *recorder) stop() {
	r.i.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		r.i.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		r.i.Fatalf("record ended with %v: %s", err, r.errs.String())
	}
	if said := r.errs.String(); strings.Contains(said, "stopped") {
		r.i.Errorf("the recorder said %s", said)
	}
	r.i.run("record", "--since", "1h", "--export", r.i.file)
}

// run runs the program, and returns what it prints.
func (i *incident) run(args ...string) string {
	i.Helper()
	cmd := command(i.T, i.home, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		i.Fatalf("%v: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

// await waits until something is so.
func (i *incident) await(what string, so func() bool) {
	i.Helper()
	for limit := time.Now().Add(patience); !so(); i.wait(20 * time.Millisecond) {
		if time.Now().After(limit) {
			i.Fatalf("never: %s", what)
		}
	}
}

// recorded waits until the recorder has what is asked for.
func (i *incident) recorded(name, text string) {
	i.Helper()
	i.await(fmt.Sprintf("%s is recorded of %s", text, name), func() bool {
		out, err := command(i.T, i.home, "history", name).Output()
		var exit *exec.ExitError
		return (err == nil || errors.As(err, &exit)) && strings.Contains(string(out), text)
	})
}

// wait lets time pass: an incident has a length.
func (i *incident) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-i.Context().Done():
	}
}
