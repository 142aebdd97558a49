package logfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/internal/config"
)

func lookup(vars map[string]string) config.Lookup {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestTheLogIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logger, file, err := Open(lookup(map[string]string{"XDG_STATE_HOME": dir}))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	logger.Warn("Something happened", "source", "leases")
	path := filepath.Join(dir, "coordtop", "coordtop.log")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "source=leases") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestALogThatCannotBeWrittenStopsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "coordtop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, vars := range []map[string]string{nil, {"XDG_STATE_HOME": dir}} {
		logger, file, err := Open(lookup(vars))
		if err == nil || logger == nil || file != nil {
			t.Errorf("got %v, %v, %v", logger, file, err)
			continue
		}
		logger.Error("This goes nowhere")
		file.Close()
	}
}

func TestTheLogTurnsWhenItIsFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.log")
	l := &File{path: path, size: 100}
	if err := l.open(); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, s := range []string{"a", "b", "c"} {
		if _, err := l.Write([]byte(strings.Repeat(s, 60))); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{path: "c", path + ".1": "b"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != strings.Repeat(want, 60) {
			t.Errorf("%s: got %q, %v", filepath.Base(name), got, err)
		}
	}
}

func TestTheLogFollowsAnotherCoordtopThatTurnedIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.log")
	ours, theirs := &File{path: path, size: 100}, &File{path: path, size: 100}
	for _, l := range []*File{ours, theirs} {
		if err := l.open(); err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	for _, step := range []struct {
		l    *File
		text string
	}{{ours, strings.Repeat("a", 60)}, {theirs, strings.Repeat("b", 60)}, {ours, "c"}} {
		if _, err := step.l.Write([]byte(step.text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != strings.Repeat("b", 60)+"c" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTheLogIsWrittenThroughNoLink(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(dir, victim string) error{
		"the file": func(dir, victim string) error {
			if err := os.Mkdir(filepath.Join(dir, "coordtop"), 0o700); err != nil {
				return err
			}
			return os.Symlink(victim, filepath.Join(dir, "coordtop", Name))
		},
		"the folder": func(dir, victim string) error {
			return os.Symlink(filepath.Dir(victim), filepath.Join(dir, "coordtop"))
		},
	} {
		dir, victim := t.TempDir(), filepath.Join(t.TempDir(), Name)
		if err := os.WriteFile(victim, []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := plant(dir, victim); err != nil {
			t.Fatal(err)
		}
		logger, file, err := Open(lookup(map[string]string{"XDG_STATE_HOME": dir}))
		logger.Warn("Something happened")
		file.Close()
		if err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s is a link: %v", name, err)
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != "mine\n" {
			t.Errorf("%s is a link: %q was written, %v", name, text, err)
		}
	}
}

func TestALinkPlantedWhileTheLogIsOpenIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	logger, file, err := Open(lookup(map[string]string{"XDG_STATE_HOME": dir}))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	logger.Warn("Before")
	path := filepath.Join(dir, "coordtop", Name)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	logger.Warn("After")
	if text, err := os.ReadFile(victim); err != nil || len(text) > 0 {
		t.Errorf("%q was written through the link, %v", text, err)
	}
}
