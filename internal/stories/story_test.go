package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coordtop/coord/ydbcoord"
)

var (
	program = flag.String("program", "", "ask this program; left out: it is built")
	all     = flag.Bool("all", false, "play the long stories too")
	bound   = flag.Duration("patience", time.Minute, "how long something may take that has to come")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "6") // they wait more than they compute
	}
	ydbcoord.LogTo(slog.New(slog.DiscardHandler)) // before gRPC is used, as it asks
	code := m.Run()
	_ = os.RemoveAll(made.dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// made is the program, built once for all stories.
var made struct {
	once sync.Once
	dir  string
	err  error
	out  []byte
}

// programPath builds the program, unless -program names one.
func programPath(t testing.TB) string {
	t.Helper()
	if *program != "" {
		return *program
	}
	made.once.Do(func() {
		if made.dir, made.err = os.MkdirTemp("", "coordtop-stories"); made.err == nil {
			build := exec.Command("go", "build", "-tags", "grpcnotrace", "-o", filepath.Join(made.dir, "coordtop"), "coordtop")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			made.out, made.err = build.CombinedOutput()
		}
	})
	if made.err != nil {
		t.Fatalf("building the program: %v\n%s", made.err, made.out)
	}
	return filepath.Join(made.dir, "coordtop")
}

// quick are thresholds with which a story takes seconds.
const quick = "thresholds: {wait: 1s, wait_person: 5m, full: 2s, no_leader: 1s, stale: 2s}\n"

// story is an incident, and a person with a home who asks about it.
type story struct {
	*testing.T
	home string
}

// tell begins a story with this config.
func tell(t *testing.T, config string) *story {
	t.Helper()
	s := &story{T: t, home: t.TempDir()}
	dir := filepath.Join(s.home, ".config", "coordtop")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func long(t *testing.T) {
	t.Helper()
	if !*all {
		t.Skip("make stories plays the long ones too")
	}
}

func (s *story) command(args ...string) *exec.Cmd {
	cmd := exec.Command(programPath(s), args...)
	cmd.Env = []string{"HOME=" + s.home, "TERM=xterm", "LANG=C.UTF-8", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	return cmd
}

// run runs the program, and returns what it prints and its exit code.
func (s *story) run(args ...string) (out []byte, code int) {
	s.Helper()
	cmd := s.command(args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out, cmd.ProcessState.ExitCode()
}

// record lets coordtop record until the end of the story, and waits until it has recorded what get shows: each of
// names is owned.
func (s *story) record(names ...string) {
	s.Helper()
	cmd := s.command("record")
	errs, err := os.CreateTemp(s.TempDir(), "record")
	if err != nil {
		s.Fatal(err)
	}
	cmd.Stderr = errs
	said := func() string {
		text, _ := os.ReadFile(errs.Name())
		return string(text)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			s.Errorf("record ended with %v: %s", err, said())
		}
		errs.Close()
	})
	s.await("record says that it records", func() bool { return strings.Contains(said(), "recording into") })
	for _, name := range names {
		s.await(name+" is recorded", func() bool {
			out, _ := s.run("history", name, "-o", "json")
			return strings.Contains(string(out), `"start"`)
		})
	}
}

// await waits until something is so.
func (s *story) await(what string, so func() bool) {
	s.Helper()
	for limit := time.Now().Add(*bound); !so(); s.wait(100 * time.Millisecond) {
		if time.Now().After(limit) {
			s.Fatalf("never: %s", what)
		}
	}
}

// wait lets time pass: a story has a length.
func (s *story) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.Context().Done():
	}
}

// finding is one of why -o json.
type finding struct {
	Pattern, Severity, Title, Source, Effect string
	Reasons                                  []struct{ Text, Sure string }
	Steps                                    []struct{ Text, Key, Command string }
	Rows                                     []struct{ Name, Short string }
	Who                                      []string
	Hidden                                   int
}

func (f *finding) names() (names []string) {
	for _, r := range f.Rows {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

// text is the whole finding, as a person would read it.
func (f *finding) text() string {
	var b strings.Builder
	b.WriteString(f.Pattern + ": " + f.Title + "\n")
	for _, r := range f.Reasons {
		b.WriteString(r.Sure + ": " + r.Text + "\n")
	}
	b.WriteString("effect: " + f.Effect + "\n")
	for _, st := range f.Steps {
		b.WriteString("next: " + st.Text + " [" + st.Key + "] " + st.Command + "\n")
	}
	return b.String() + "rows: " + strings.Join(f.names(), " ") + "\n"
}

// truth is what a finding must be.
type truth struct {
	pattern string
	rows    []string // by name, all of them
	says    []string // expressions that lines of its text match; one with a ! in front matches none
}

func (t *truth) wrong(f *finding) string {
	if f.Pattern != t.pattern {
		return "it is " + f.Pattern
	}
	rows := slices.Sorted(slices.Values(t.rows))
	if !slices.Equal(rows, f.names()) {
		return "its rows are " + strings.Join(f.names(), " ")
	}
	for _, says := range t.says {
		expression, not := strings.CutPrefix(says, "!")
		if regexp.MustCompile("(?m)"+expression).MatchString(f.text()) == not {
			return "it says: " + says
		}
	}
	return ""
}

// why asks once.
func (s *story) why(args ...string) (list []finding) {
	s.Helper()
	out, code := s.run(append([]string{"why", "-o", "json"}, args...)...)
	var answer struct{ Findings []finding }
	if err := json.Unmarshal(out, &answer); err != nil {
		s.Fatalf("why ended with %d and printed %q: %v", code, out, err)
	}
	if found := len(answer.Findings) > 0; found != (code == 10) {
		s.Errorf("why found %d and ended with %d", len(answer.Findings), code)
	}
	return answer.Findings
}

// finds asks until the findings are these, and no others, in the order of their rows: equally grave ones come in the
// order in which they were seen.
func (s *story) finds(want ...truth) []finding {
	s.Helper()
	var list []finding
	var wrong string
	for limit := time.Now().Add(*bound); ; s.wait(200 * time.Millisecond) {
		list, wrong = s.why(), ""
		slices.SortStableFunc(list, func(a, b finding) int { return slices.Compare(a.names(), b.names()) })
		if len(list) != len(want) {
			wrong = "another number of findings"
		}
		for i := range min(len(list), len(want)) {
			if w := want[i].wrong(&list[i]); w != "" && wrong == "" {
				wrong = "finding " + string(rune('1'+i)) + " should be " + want[i].pattern + ": " + w
			}
		}
		if wrong == "" || time.Now().After(limit) {
			break
		}
	}
	var text strings.Builder
	for i := range list {
		text.WriteString(list[i].text() + "\n")
	}
	if wrong != "" {
		s.Fatalf("%s\n%s", wrong, text.String())
	}
	s.Logf("\n%s", text.String())
	return list
}

// row is one of get -o json.
type row struct {
	Name, State string
	Owners      []struct{ Label string }
	Queue       struct{ Waiters []struct{ Label string } }
}

// gets waits until get shows a row so.
func (s *story) gets(name string, so func(*row) bool) {
	s.Helper()
	s.await(name+" as expected in get", func() bool {
		out, _ := s.run("get", name, "-o", "json")
		var got struct{ Primitives []row }
		return json.Unmarshal(out, &got) == nil && len(got.Primitives) == 1 && so(&got.Primitives[0])
	})
}

// waiters reports whether so many wait.
func waiters(n int) func(*row) bool {
	return func(r *row) bool { return len(r.Owners) > 0 && len(r.Queue.Waiters) == n }
}

// calm asks once all has happened: nothing is wrong.
func (s *story) calm() {
	s.Helper()
	if list := s.why(); len(list) > 0 {
		s.Errorf("something is wrong:\n%s", list[0].text())
	}
}
