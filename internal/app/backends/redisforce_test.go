package backends

import (
	"strings"
	"testing"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// TestTheBoxOfARedisLockSaysWhatTheOldOwnerMayDo has owners that notice, and may free the next
// one, in different ways.
func TestTheBoxOfARedisLockSaysWhatTheOldOwnerMayDo(t *testing.T) {
	t.Parallel()
	for format, tt := range map[string]struct {
		owner sources.Owner
		says  string
		blind bool
	}{
		"ShedLock":         {sources.Owner{Guard: "1", NoExpiry: true}, "Redis does not tell the owner. It goes on as if it owned it until it looks at the key, which may be never", true},
		"resque-scheduler": {sources.Owner{Guard: "1"}, "until its next renewal fails", true},
		"Redisson":         {sources.Owner{Guard: "1"}, "until its next renewal fails", false},
		"":                 {sources.Owner{Guard: "1"}, "goes on as if it owned it", false},
	} {
		row := &sources.Row{Primitive: &sources.Primitive{Labels: []sources.Attr{sources.FormatLabel(format, sources.Told)}}}
		text := strings.Join(redisReleased(row, &tt.owner), " ")
		if !strings.Contains(text, tt.says) || strings.Contains(text, "may free the next owner: the release of "+format) != tt.blind {
			t.Errorf("%s: %s", format, text)
		}
		if why := redisNotReleased(row, &tt.owner); why != "" {
			t.Errorf("%s cannot be released: %s", format, why)
		}
	}
	if why := redisNotReleased(nil, &sources.Owner{}); !strings.Contains(why, "4096 bytes") {
		t.Errorf("of a value that is too long: %q", why)
	}
}

func TestTheScriptOfARedisReleaseIsSaidWithWhatItCompares(t *testing.T) {
	t.Parallel()
	var b operate.Backend
	redisDriver(Host{}, config.Source{URL: "redis://127.0.0.1"}, &b)
	r := action.Request{Verb: action.Release, Target: action.Target{Ref: sources.Ref{Name: "app:lock:a"}, Guard: "a46ae7"}}
	if got, want := b.Call(r), `script: remove the owner of "app:lock:a" if its value is still the one on screen (guard a46ae7), and wake those who wait`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
