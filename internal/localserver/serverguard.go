package localserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// guardScript is what the guard runs: $1 is the folder to make and to remove, empty when
// the folder is somebody else's. It remembers the last process id it was told; any line
// that is not a number means that no process runs, as "hold" does, at which it holds the pipe
// of its folder open. The line "end" in the middle stands for how a server of this sort is
// ended. We may be dead before "ready" is written, which must not end the guard: hence PIPE. A
// process of a server that was killed may still write when the folder is to be removed.
const guardScript = `
trap '' HUP INT TERM PIPE
if [ -n "$1" ]; then mkdir -m 700 -- "$1" || exit 1; fi
echo ready
exec >&-
last=
while read -r line; do
  last=$line
  if [ "$line" = hold ] && [ -p "$1/alive" ]; then exec 4<>"$1/alive"; fi
done
case $last in *[!0-9]*) last= ;; esac
end
if [ -n "$1" ]; then
  tries=0
  while ! rm -rf -- "$1" 2>&-; do
    [ $tries -lt 20 ] || { rm -rf -- "$1" || exit 1; break; }
    tries=$((tries+1)); sleep 0.05 2>&- || sleep 1
  done
fi
`

// endAtOnce is the end of a server that leaves nothing outside its folder.
const endAtOnce = `if [ -n "$last" ]; then kill -9 "$last" 2>&-; fi`

// launchScript tells the guard (file 3) its own process id and then becomes the server.
// The write end it inherited keeps the guard waiting until the id is through.
const launchScript = `echo $$ >&3; exec "$@" 3>&-`

// guard is the shell that outlives us just long enough to clean up.
type guard struct {
	dir    string // where the server works
	user   *user  // whom the server runs as; nil: us
	stderr bytes.Buffer
	cmd    *exec.Cmd

	mu     sync.Mutex
	pipe   *os.File // write end; nil once closed
	alive  *os.File // the pipe in the folder, see aliveName; nil: the folder is somebody else's
	result error    // of the clean-up
}

// newGuard starts a guard of a server that runs as user. With dir "" it makes a temporary folder
// named after kind, and removes it at the end; a given folder is made if missing and is never
// removed. The lines of shell in end make the server go: they find its process id in $last,
// empty if none runs, and its folder in $2. It refuses in a short test run, so that a test that
// should be skipped there fails instead, on every machine.
func newGuard(kind, dir, end string, user *user) (*guard, error) {
	if shortRun() {
		return nil, errShort
	}
	g := &guard{dir: dir, user: user}
	owned := ""
	if dir == "" {
		owned = tempFolder(kind)
		g.dir = owned
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the server's folder: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making the guard's pipe: %w", err)
	}
	defer r.Close()
	script := strings.Replace(guardScript, "\nend\n", "\n"+end+"\n", 1)
	g.cmd = exec.Command("/bin/sh", "-c", script, "coordtop-guard", owned, g.dir)
	g.cmd.Stdin = r
	g.cmd.Dir = "/"
	g.cmd.Stderr = &g.stderr
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("making the guard's pipe: %w", err)
	}
	if err := g.cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	g.pipe = w
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		return nil, errors.Join(errors.New("starting the guard: it did not come up"), g.close())
	}
	if owned != "" {
		if g.alive, err = holdFolder(owned); err == nil {
			_, err = w.WriteString("hold\n")
		}
	}
	if err = errors.Join(err, user.reaches(g.dir)); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// launch starts a server under the guard; its output goes to the file log.
func (g *guard) launch(log *os.File, program string, args ...string) (*exec.Cmd, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe == nil {
		return nil, errStopped
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", launchScript, "coordtop-launch", program}, args...)...)
	cmd.Dir = g.dir
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.ExtraFiles = []*os.File{g.pipe}; g.alive != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, g.alive) // a server that outlives us and its guard needs its folder
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: g.user.credential()}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(program), err)
	}
	return cmd, nil
}

// gone tells the guard that the process it knew was waited for, so that its number, which
// may belong to a stranger by now, is not killed.
func (g *guard) gone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe != nil {
		// A guard that cannot be told has died and kills nobody.
		_, _ = g.pipe.WriteString("none\n")
	}
}

// close makes the guard clean up and waits for it. Later calls return the same.
func (g *guard) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe == nil {
		return g.result
	}
	g.pipe.Close()
	g.pipe = nil
	if err := g.cmd.Wait(); err != nil {
		g.result = fmt.Errorf("removing %s: %w: %s", g.dir, err, strings.TrimSpace(g.stderr.String()))
	}
	if g.alive != nil {
		g.alive.Close()
	}
	return g.result
}
