package app

import (
	"strings"
	"testing"
)

func TestAllThatIsWrongWithAConfigAndItsKeysIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write(t, configFile, "colour: red\nsources:\n- {name: s, url: 'redis://127.0.0.1:1/0'}\nkeys:\n  pause: [x]\n  fly: [v]\n  mouse: [ctrl+s]\n")
	for _, args := range []string{"config check", "get"} {
		w.stdout, w.stderr = newStream(), newStream()
		code := w.main(t.Context(), strings.Fields(args)...)
		said := w.stderr.String()
		for _, want := range []string{path + ":1:1: colour: unknown key", path + ":6:8: keys: no such action", path + `:7:10: keys.mouse: "ctrl+s" is never a command`} {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q: %s", args, want, said)
			}
		}
		if code != exitUsage || strings.Contains(said, "keys.pause") {
			t.Errorf("%s: exit code %d: %s", args, code, said)
		}
	}
}
