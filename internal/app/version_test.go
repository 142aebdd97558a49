package app

import (
	"runtime/debug"
	"testing"
)

func TestVersionNamesTheRevisionOfAClone(t *testing.T) {
	t.Parallel()
	const revision = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		main, revision, modified, want string
	}{
		{"v1.2.3", "", "", "v1.2.3"},
		{"(devel)", revision, "false", "devel (0123456789ab)"},
		{"(devel)", revision, "true", "devel (0123456789ab with changes)"},
		{"v0.0.0-20261122013300-0123456789ab+dirty", revision, "true", "v0.0.0-20261122013300-0123456789ab+dirty"},
		{"v1.2.3", revision, "false", "v1.2.3 (0123456789ab)"},
		{"(devel)", "", "", "devel (built without the revision: see go help buildvcs)"},
		{"", "", "", "unknown"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.main}}
		for key, value := range map[string]string{"vcs.revision": c.revision, "vcs.modified": c.modified} {
			if value != "" {
				info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
			}
		}
		if got := versionOf(info); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.main, c.revision, got, c.want)
		}
	}
}

func TestTheShippedExamplePassesItsOwnCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if code := w.main(t.Context(), "config", "check", "../../config.example.yaml"); code != 0 {
		t.Errorf("exit code %d: %s", code, w.stderr)
	}
}
