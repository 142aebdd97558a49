package app

import (
	"strings"
	"testing"

	"coordtop/internal/config"
	"coordtop/ui"
)

func TestAllThatIsWrongWithAConfigAndItsKeysIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write(t, configFile, "colour: red\nsources:\n- {name: s, url: 'redis://127.0.0.1:1/0'}\nkeys:\n  pause: [x]\n  fly: [v]\n  mouse: [ctrl+s]\n  quitt: [v]\n  quit: v\n")
	for _, args := range []string{"config check", "get"} {
		w.stdout, w.stderr = newStream(), newStream()
		code := w.main(t.Context(), strings.Fields(args)...)
		said := w.stderr.String()
		for _, want := range []string{path + ":1:1: colour: unknown key", path + ":6:8: an entry of keys: no such action", path + `:7:10: keys.mouse: "ctrl+s" is never a command`,
			path + ":8:10: an entry of keys: no such action as quitt: did you mean quit?", path + ":9:9: an entry of keys: must be a list"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q: %s", args, want, said)
			}
		}
		if code != exitUsage || strings.Contains(said, "keys.pause") || strings.Contains(said, "keys.quit:") {
			t.Errorf("%s: exit code %d: %s", args, code, said)
		}
	}
}

func TestTheConfigDecidesTheFirstScreen(t *testing.T) {
	t.Parallel()
	for start, want := range map[string]ui.Start{"": ui.StartAuto, "auto": ui.StartAuto, "pulse": ui.StartPulse, "locks": ui.StartLocks} {
		if got := firstScreen(config.Config{Start: start}); got != want {
			t.Errorf("%q: %q, want %q", start, got, want)
		}
	}
}
