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

// guardScript is the guard's script. $1 is the folder to make and to remove; it is empty if the folder must stay. The
// guard remembers the last process id that it read. Any line that is not a number means that no process runs; "hold"
// also makes it hold the pipe of its folder open. The line "end" in the middle is replaced with the commands that end
// this kind of server. The guard ignores PIPE, because we may die before it writes "ready". It retries the removal of
// the folder, because a process of a killed server may still write.
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

// endAtOnce ends a server that has nothing outside its folder.
const endAtOnce = `if [ -n "$last" ]; then kill -9 "$last" 2>&-; fi`

// launchScript writes its own process id to the guard (file 3) and then becomes the server. While it has this write end
// open, the guard waits for the id.
const launchScript = `echo $$ >&3; exec "$@" 3>&-`

// guard is the shell that outlives us just long enough to clean up.
type guard struct {
	dir    string // the server's folder
	user   *user  // user of the server; nil: our own
	stderr bytes.Buffer
	cmd    *exec.Cmd

	mu     sync.Mutex
	pipe   *os.File // write end; nil once closed
	alive  *os.File // the pipe in the folder, see aliveName; nil: the folder is not temporary
	result error    // of the clean-up
}

// newGuard starts a guard of a server that runs as user. With dir "" it makes a temporary folder named after kind, and
// removes it at the end; a given folder is made if missing and is never removed. end is a piece of shell that ends the
// server. It finds the process id in $last, which is empty if none runs, and the folder in $2. In a short test run
// newGuard returns an error, so that a test that forgot to skip fails on every machine.
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
		cmd.ExtraFiles = append(cmd.ExtraFiles, g.alive) // a server that outlives us and its guard still needs its folder
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: g.user.credential()}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(program), err)
	}
	return cmd, nil
}

// gone notifies the guard that the server's process was waited for, so that it does not kill another process with the
// same id.
func (g *guard) gone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe != nil {
		// An error means that the guard has ended, so it kills nothing.
		_, _ = g.pipe.WriteString("none\n")
	}
}

// close makes the guard clean up and waits for it. Later calls return the same error.
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
