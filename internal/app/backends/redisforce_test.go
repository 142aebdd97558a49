package backends

import (
	"strings"
	"testing"

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
		"ShedLock":         {sources.Owner{Guard: "1", NoExpiry: true}, "only when it looks", true},
		"resque-scheduler": {sources.Owner{Guard: "1"}, "at its next renewal", true},
		"Redisson":         {sources.Owner{Guard: "1"}, "at its next renewal", false},
		"":                 {sources.Owner{Guard: "1"}, "goes on as if it owned it", false},
	} {
		row := &sources.Row{Primitive: &sources.Primitive{Format: format}}
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
