package shots

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/ui/uitest"
)

var (
	program   = flag.String("program", "", "draw the pictures of this program's demo")
	recording = flag.String("recording", "", "and those of this recording, which has a hole")
)

// content is in each picture: how the machines of the demo are called, or the rows of the recording.
var content = regexp.MustCompile(`host-\d\d:|app:leader:`)

// patience is how long the demo may take until its leaders have changed.
const patience = 3 * time.Minute

// studio is the program on a terminal.
type studio struct {
	*uitest.Screen
	t   *testing.T
	tty *os.File
}

// command is the program with a home of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(*program, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=", "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=", "HOME="+t.TempDir())
	cmd.Env = unset(cmd.Env, "XDG_STATE_HOME", "NO_COLOR", "SSH_TTY", "SSH_CONNECTION", "TMUX")
	return cmd
}

// start starts the program on a terminal.
func start(t *testing.T, w, h int, args ...string) *studio {
	t.Helper()
	cmd := command(t, args...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		t.Fatal(err)
	}
	s := &studio{Screen: uitest.NewAnswering(t, w, h, f), t: t, tty: f}
	read := make(chan struct{})
	go func() { // joined in Cleanup; ends with the program: EIO
		defer close(read)
		_, _ = io.Copy(s.Screen, f)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v ended with %v", args, err)
		}
		<-read
		_ = f.Close()
	})
	return s
}

func unset(env []string, names ...string) []string {
	var kept []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		found := false
		for _, n := range names {
			found = found || n == name
		}
		if !found {
			kept = append(kept, e)
		}
	}
	return kept
}

// types sends keys.
func (s *studio) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// shows waits until the screen matches an expression.
func (s *studio) shows(expr string) {
	s.t.Helper()
	s.Until(s.t, expr, patience, regexp.MustCompile(expr).MatchString)
}

// hides waits until the screen does not match any more.
func (s *studio) hides(expr string) {
	s.t.Helper()
	match := regexp.MustCompile(expr).MatchString
	s.Until(s.t, "no "+expr, patience, func(shown string) bool { return !match(shown) })
}

// resize changes the terminal.
func (s *studio) resize(w, h int) {
	s.t.Helper()
	s.Resize(w, h)
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		s.t.Fatal(err)
	}
}

// theme switches the board to the colours.
func (s *studio) theme(name string) {
	s.t.Helper()
	s.types(":theme " + name + "\r")
	s.shows("theme " + name)
	s.hides("theme " + name)
}

// draw writes a picture.
func (s *studio) draw(name string, p palette) {
	s.t.Helper()
	s.Settle()
	var b bytes.Buffer
	if err := writeSVG(&b, s.Screen, p); err != nil {
		s.t.Fatal(err)
	}
	write(s.t, name, b.Bytes())
}

// write writes a picture, in which an action names the machine.
func write(t *testing.T, name string, picture []byte) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	other := "@" + ("ops-1" + strings.Repeat("-", len(host)))[:len(host)]
	if err := os.WriteFile(name+".svg", bytes.ReplaceAll(picture, []byte("@"+host), []byte(other)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// looks are the colours that everything is drawn in.
var looks = []struct {
	name    string
	palette palette
}{{"dark", dark()}, {"light", light()}}

func TestThePicturesOfTheReadmeAreDrawn(t *testing.T) {
	t.Parallel()
	if *program == "" {
		t.Skip("make shots draws them")
	}
	s := start(t, 160, 48, "demo", "--seed", "7")
	s.shows("demo:leader:scheduler")
	for _, row := range []string{"ledger", "scheduler"} { // whose leaders are replaced now and then
		s.shows(`(?m)demo:leader:` + row + ` .*A━.*B━`)
	}
	s.types("/billing\r")
	s.shows("filter billing")
	s.types("j")
	s.shows(`(?m)^ demo:leader:billing  .*led`)
	s.types("\x1b")
	s.hides("filter billing")
	s.types("X") // this one dies now, and is late with its lease for a while
	s.shows(`(?s)renewing late.*▲◌ *demo:leader:billing`)
	for _, l := range looks { // first: it is late for a few seconds only
		s.theme(l.name)
		s.draw("locks-160x48-"+l.name, l.palette)
	}
	for _, l := range looks {
		s.theme(l.name)
		s.types("\r")
		s.shows("DATA of")
		s.draw("detail-160x48-"+l.name, l.palette)
		s.types("\x1b")
		s.hides("DATA of")
		s.types("5")
		s.shows("EVENTS newest first")
		s.draw("events-160x48-"+l.name, l.palette)
		s.types("2")
		s.shows("NAME ")
	}
	s.shows(`demo:leader:billing .* host-\d\d:`) // it is led again
	for _, l := range looks {
		s.theme(l.name)
		s.box("release-160x48-"+l.name, "x", "Force-release", l.palette)
	}
	s.open("x", "Force-release")
	s.types("\t\r")
	s.shows("release demo:leader:billing: [^s]")
	s.types("3Mbilling is moved to host-02\r")
	s.shows("M billing is moved")
	for _, size := range []string{"160x48", "80x24"} {
		if size == "80x24" {
			s.resize(80, 24)
		}
		for _, l := range looks {
			s.theme(l.name)
			s.types("6")
			s.shows("release .*done")
			s.types("gj") // below the note
			s.shows("WHAT +release")
			s.draw("audit-"+size+"-"+l.name, l.palette)
			s.types("30[") // the last change of the row
			s.shows("(?s)LANE .*cursor")
			s.draw("timeline-"+size+"-"+l.name, l.palette)
			s.types("2")
			s.shows("NAME ")
		}
	}
	s.shows(`demo:leader:billing .* host-\d\d:`)
	for _, l := range looks {
		s.theme(l.name)
		s.draw("locks-80x24-"+l.name, l.palette)
		s.box("action-80x24-"+l.name, "a", "Campaign for", l.palette)
		s.box("release-80x24-"+l.name, "x", "Force-release", l.palette)
	}
	s.types("q")
}

func TestThePicturesOfARecordingAreDrawn(t *testing.T) {
	t.Parallel()
	if *recording == "" {
		t.Skip("make shots draws them")
	}
	picture := filepath.Join(t.TempDir(), "report.svg")
	page, err := command(t, "report", "--file", *recording, "--svg", picture).Output()
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	write(t, "report", drawn)
	hole := regexp.MustCompile(`(?m)^- \S+ (\S+) to .*: not recorded$`).FindSubmatch(page)
	if hole == nil {
		t.Fatalf("no hole in\n%s", page)
	}
	began, err := time.Parse(time.TimeOnly, string(hole[1]))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, 160, 48, "replay", *recording)
	s.shows("HANDED")
	for _, size := range []string{"160x48", "80x24"} {
		if size == "80x24" {
			s.resize(80, 24)
		}
		for _, l := range looks {
			s.theme(l.name)
			s.types("7")
			s.shows("(?s)not recorded .*HANDED")
			s.draw("recording-"+size+"-"+l.name, l.palette)
			s.types("2")
			s.shows("NAME ")
			s.types(":at " + began.Add(5*time.Second).Format(time.TimeOnly) + "\r")
			s.shows("not recorded .* shown as known")
			s.draw("hole-"+size+"-"+l.name, l.palette)
		}
	}
	s.types("q")
}

// open opens the box of a key of the menu, and waits until it says what would be done.
func (s *studio) open(key, title string) {
	s.t.Helper()
	s.types("a" + key)
	s.shows("(?s)" + title + " demo.*runs  ")
}

// box draws the box that a key of the menu opens.
func (s *studio) box(name, key, title string, p palette) {
	s.t.Helper()
	s.open(key, title)
	s.draw(name, p)
	s.types("\x1b")
	s.hides(title + " demo")
}

func TestThePicturesAreSoundAndSayNothingOfWhereTheyWereDrawn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.svg")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d pictures, %v", len(files), err)
	}
	gallery, err := os.ReadFile(filepath.Join("..", "help", "pictures.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(text, new(struct{})); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(text) > 64<<10 {
			t.Errorf("%s has %d bytes", file, len(text))
		}
		if !content.Match(text) {
			t.Errorf("%s shows nothing of the demo or the recording", file)
		}
		if !bytes.Contains(gallery, fmt.Appendf(nil, "../shots/%s", file)) {
			t.Errorf("internal/help/pictures.md does not show %s", file)
		}
	}
}
