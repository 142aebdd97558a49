package app

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/redis/go-redis/v9"

	"coordtop/internal/demo"
	"coordtop/internal/localserver"
)

// sight is a real terminal that a board runs on, and what stands on it.
type sight struct {
	t    *testing.T
	file *os.File
	cmd  *exec.Cmd

	raw     *stream
	reading sync.WaitGroup // of file

	mu      sync.Mutex
	em      *vt.Emulator
	changed chan struct{} // capacity 1
}

// inSight starts a board on a terminal of 100x30.
func inSight(t *testing.T, cmd *exec.Cmd) *sight {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	return sightOf(t, cmd, f)
}

// sightOf is a board that was started on the other side of f.
func sightOf(t *testing.T, cmd *exec.Cmd, f *os.File) *sight {
	s := &sight{t: t, file: f, cmd: cmd, raw: newStream(), em: vt.NewEmulator(100, 30), changed: make(chan struct{}, 1)}
	var answering sync.WaitGroup
	s.reading.Go(func() { // ends with the child: EIO
		b := make([]byte, 1<<14)
		for {
			n, err := f.Read(b)
			s.draw(b[:n])
			if err != nil {
				return
			}
		}
	})
	answering.Go(func() { _, _ = io.Copy(io.Discard, s.em) }) // the emulator's answers, which nobody needs
	t.Cleanup(func() {
		_ = f.Close()
		_ = s.em.InputPipe().(io.Closer).Close()
		s.reading.Wait()
		answering.Wait()
	})
	return s
}

func (s *sight) draw(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.em.Write(b)
	_, _ = s.raw.Write(b)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *sight) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.em.String()
}

// await waits until all the texts stand on the screen.
func (s *sight) await(texts ...string) *sight {
	s.t.Helper()
	return s.until("shows "+strings.Join(texts, " and "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// gone waits until a text stands there no more.
func (s *sight) gone(text string) *sight {
	s.t.Helper()
	return s.until("stops showing "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

func (s *sight) until(what string, ok func(string) bool) *sight {
	s.t.Helper()
	limit := time.NewTimer(longEnough)
	defer limit.Stop()
	for !ok(s.text()) {
		select {
		case <-s.changed:
		case <-limit.C:
			s.t.Fatalf("the screen never %s, but\n%s", what, s.text())
		}
	}
	return s
}

// owned waits until the row of a name shows who as its owner.
func (s *sight) owned(name, who string) *sight {
	s.t.Helper()
	return s.until("shows "+name+" owned by "+who, func(screen string) bool {
		for line := range strings.Lines(screen) {
			if strings.Contains(line, "● "+name) && strings.Contains(line, who) {
				return true
			}
		}
		return false
	})
}

const (
	tab, backTab, esc, enter = "\t", "\x1b[Z", "\x1b", "\r"
)

// keys types. Each is read before the next one comes, as from a person: esc and what
// follows it would be one sequence otherwise.
func (s *sight) keys(keys ...string) *sight {
	s.t.Helper()
	for _, k := range keys {
		if _, err := s.file.WriteString(k); err != nil {
			s.t.Fatal(err)
		}
	}
	return s
}

// arm makes writing possible.
func (s *sight) arm() *sight {
	return s.keys("W").await("Arm writing").keys("y").await("WRITE ")
}

// confirm types the name that the box wants and presses its button.
func (s *sight) confirm(name string) *sight {
	s.t.Helper()
	s.await("(needs the name)").keys(backTab, name) // from Cancel back to the last field
	return s.gone("(needs the name)").keys(tab, tab, enter)
}

// rival is another process that wants to lead, and tells when it does.
type rival struct {
	cmd  *exec.Cmd
	says *bufio.Scanner
}

// rivalName is what others see of a rival.
const rivalName = "rival:4411"

func newRival(t *testing.T, url, key string) *rival {
	t.Helper()
	o := demo.Task{URL: url, Key: key, Role: demo.RoleLeader, TTL: 3 * time.Second, Name: rivalName}
	cmd := command(t, demo.CandidateCommand, o.Argument())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // it ends with its standard input
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &rival{cmd, bufio.NewScanner(out)}
}

// leads waits until it does.
func (r *rival) leads(t *testing.T) {
	t.Helper()
	bound := time.AfterFunc(40*time.Second, func() { _ = r.cmd.Process.Kill() })
	defer bound.Stop()
	for r.says.Scan() {
		if strings.HasPrefix(r.says.Text(), "owns ") {
			return
		}
	}
	t.Fatal("the other candidate never leads")
}

// stage is one backend for the whole of what a person does.
type stage struct {
	url  string // of the server
	view string // for coordtop: one election
	key  string // of that, for another program
	name string // as it is on screen
}

func stages() map[string]func(*testing.T) stage {
	return map[string]func(*testing.T) stage{
		"redis": func(t *testing.T) stage {
			url := localserver.RedisForTest(t, localserver.RedisOptions{}).URL()
			return stage{url, url + "?election=app:leader:billing", "app:leader:billing", "app:leader:billing"}
		},
		"postgres": func(t *testing.T) stage {
			url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
			join := "?"
			if strings.Contains(url, "?") {
				join = "&"
			}
			return stage{url, url + join + "election=billing", "billing", "billing"}
		},
	}
}

func TestAPersonCampaignsLeadsProclaimsAndResigns(t *testing.T) {
	t.Parallel()
	for backend, set := range stages() {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			on := set(t)
			other := command(t, "watch", on.view) // another client
			seen := newStream()
			other.Stdout, other.Stderr = seen, seen
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			s := inSight(t, command(t, on.view)).await(on.name, "WAITING", "READ-ONLY")

			// Refused while writing is off.
			s.keys("aa").await("writing is off").keys(esc).gone("writing is off: W")

			s.arm().keys("aa").confirm(on.name)
			s.await("(us)", "we hold 1").await("campaign " + on.name + ": we lead")
			seen.await(t, func(out string) bool { return strings.Contains(out, "took it") || strings.Contains(out, "acquired") })

			s.keys("ap").await("Proclaim as leader of").keys(tab, tab, " draining", backTab, enter)
			s.await("proclaim " + on.name + ": proclaimed")
			seen.await(t, func(out string) bool { return strings.Contains(out, "draining") })

			next := newRival(t, on.url, on.key)
			s.keys("ar").await("Resign").keys("y")
			next.leads(t)
			s.gone("we hold").gone("(us)").owned(on.name, rivalName)

			// A claim is for whoever owns it: the box shows the new owner and stays open to it.
			s.keys("aa").await("(needs the name)", rivalName)
			if err := next.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = next.cmd.Wait()
			s.await("owner     nobody", "(needs the name)").keys(esc).gone("(needs the name)")

			s.keys("q")
			if code := ends(t, s.cmd); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestWhatIsHeldAtTheEndIsResignedOrRunsOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys   []string
		signal os.Signal
		left   bool // the key stays, with its TTL
	}{
		"resign":  {keys: []string{"q", "r"}},
		"run out": {keys: []string{"q", "l"}, left: true},
		"ctrl+c":  {keys: []string{"\x03", "\x03"}},
		"SIGTERM": {signal: syscall.SIGTERM},
		"SIGHUP":  {signal: syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := stages()["redis"](t)
			s := inSight(t, command(t, on.view)).await(on.name, "WAITING", "READ-ONLY")
			s.arm().keys("aa").confirm(on.name).await("(us)", "we hold 1")
			for i, k := range c.keys {
				if s.keys(k); i == 0 {
					s.await("We hold 1 lease")
				}
			}
			if c.signal != nil {
				if err := s.cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			if code := ends(t, s.cmd); code != 0 {
				t.Errorf("exit code %d", code)
			}
			options, err := redis.ParseURL(on.url)
			if err != nil {
				t.Fatal(err)
			}
			left, err := writer(t, options.Addr).PTTL(t.Context(), on.key).Result()
			if err != nil || (left > 0) != c.left {
				t.Errorf("the key has %v left, %v", left, err)
			}
		})
	}
}
