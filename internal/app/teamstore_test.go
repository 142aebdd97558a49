package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/internal/config"
)

func TestThePasswordCommandOfTheStoreRunsRarely(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	st := &settings{lookup: func(string) (string, bool) { return "", false }}
	o := st.placeOf(config.History{URL: "postgres://u@h/d", Group: "eu", PasswordCommand: []string{"sh", "-c", "echo ran >> " + log + "; echo secret"}}, "/state")
	for range 3 {
		if text, err := o.team.Password(t.Context()); text != "secret" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	if ran, err := os.ReadFile(log); string(ran) != "ran\n" {
		t.Errorf("the command ran %d times: %v", strings.Count(string(ran), "\n"), err)
	}
	if o.team.Schema != "coordtop_eu" || o.Path != "/state/eu-spool.db" || strings.Contains(o.String(), "secret") {
		t.Errorf("the store is %v, its spool %s", o, o.Path)
	}
}
