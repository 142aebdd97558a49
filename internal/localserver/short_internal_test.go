package localserver

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// shortEnv is set in the short run that TestAShortRunSkipsWhatNeedsAServerAndStartsNone
// makes of itself.
const shortEnv = "COORDTOP_LOCALSERVER_SHORT"

// skips notes that a test was skipped, instead of ending it.
type skips struct {
	testing.TB
	skipped bool
}

func (s *skips) Skipf(string, ...any) { s.skipped = true }

func TestAShortRunSkipsWhatNeedsAServerAndStartsNone(t *testing.T) {
	t.Parallel()
	s := &skips{TB: t}
	NeedsServer(s)
	if s.skipped != testing.Short() {
		t.Errorf("skipped: %v, in a run that is short: %v", s.skipped, testing.Short())
	}
	g, err := newGuard("short", "", endAtOnce, nil)
	if errors.Is(err, errShort) != testing.Short() {
		t.Errorf("starting a server: %v, in a run that is short: %v", err, testing.Short())
	}
	if err == nil {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}
	if os.Getenv(shortEnv) != "" {
		return
	}
	cmd := exec.Command(os.Args[0], "-test.short", "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), shortEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a short run: %v\n%s", err, out)
	}
}
