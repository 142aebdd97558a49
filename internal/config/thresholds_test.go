package config_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "coordtop/internal/config"
	"coordtop/sources"
)

// written is a config with one source and these thresholds.
func written(t *testing.T, thresholds string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := "sources:\n  - url: redis://localhost:6379/0\n" + thresholds
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, path, noEnv)
}

func TestTheExampleShowsTheThresholdsThatAreInUse(t *testing.T) {
	t.Parallel()
	c, err := load(t, example, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	got, want := c.Thresholds, sources.DefaultThresholds()
	if math.Abs(got.LateLeft-want.LateLeft) > 0.01 {
		t.Errorf("late_left is %v, in use is %v", got.LateLeft, want.LateLeft)
	}
	if got.LateLeft = want.LateLeft; got != want {
		t.Errorf("the example says\n%+v, in use is\n%+v", got, want)
	}
	if plain, err := written(t, ""); err != nil || plain.Thresholds != want {
		t.Errorf("without a word: %+v, %v", plain.Thresholds, err)
	}
}

func TestThresholdsAreTakenOneByOne(t *testing.T) {
	t.Parallel()
	c, err := written(t, "thresholds: {no_leader: 9s, late_left: 20%, flap_losses: 7, gap: 3s, gap_part: 50%}\n")
	want := sources.DefaultThresholds()
	want.NoLeader, want.LateLeft, want.FlapLosses, want.Gap, want.GapPart = 9*time.Second, 0.2, 7, 3*time.Second, 0.5
	if err != nil || c.Thresholds != want {
		t.Errorf("got %+v, %v, want %+v", c.Thresholds, err, want)
	}
	for text, says := range map[string]string{
		"{late_left: 33}":          "must be a part from 1% to 99%, as 33%",
		"{late_left: 100%}":        "must be a part from 1% to 99%",
		"{late_seen: 0}":           "must be a whole number from 1 to 100000",
		"{late_missed: 1.5}":       "must be a whole number",
		"{no_leader: 5}":           "must be a length of time with its unit",
		"{gap: 0s}":                "must be longer than nothing, as 30s",
		"{loss_gap: -1s}":          "must be a length of time with its unit, as 30s",
		"{flap_within: 2h}":        "must be an hour at most",
		"{flap_within: 59s}":       "must be a minute at least",
		"{late_left: 60%}":         "must not be more than late_worn",
		"{wait: 1h}":               "must not be longer than wait_person",
		"{waits: 1h}":              "thresholds",
		"{wait: 1h, wait: 2h}":     "wait",
		"[1, 2]":                   "thresholds",
		"{late_missed: [1], x: y}": "thresholds.late_missed",
	} {
		if _, err := written(t, "thresholds: "+text+"\n"); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), ":3:") {
			t.Errorf("%s: %v, want %q and the line", text, err, says)
		}
	}
}
