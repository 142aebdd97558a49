package backends

import (
	"strings"
	"testing"

	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// TestNameThatCannotBeSentExactlyIsNotClaimed: another key would be claimed in its place.
func TestNameThatCannotBeSentExactlyIsNotClaimed(t *testing.T) {
	t.Parallel()
	drivers := map[string]func(Host, config.Source, *operate.Backend){"dflockd": dflockdDriver, "ydb": ydbDriver, "redis": redisDriver}
	for name, says := range map[string]map[string]string{ // by backend; "": it can be claimed
		"app:lock:x":                 {"dflockd": "", "ydb": "", "redis": ""},
		"büro":                       {"dflockd": "", "ydb": "", "redis": ""},
		"a\xffb":                     {"dflockd": "no UTF-8", "ydb": "not UTF-8", "redis": ""}, // Redis has keys of any bytes
		"a\uFFFDb":                   {"dflockd": "U+FFFD", "ydb": "", "redis": "U+FFFD"},      // YDB has no other bytes
		"a\x00b":                     {"dflockd": "NUL", "ydb": "", "redis": ""},
		"a\nb":                       {"dflockd": "line break", "ydb": "", "redis": ""},
		"":                           {"dflockd": "empty", "ydb": "empty"},
		strings.Repeat("long", 4000): {"dflockd": "bytes", "ydb": "bytes", "redis": ""},
	} {
		for backend, want := range says {
			var b operate.Backend
			drivers[backend](Host{}, config.Source{}, &b)
			got := b.Refuses(&sources.Primitive{Ref: sources.Ref{Name: name}, Kind: sources.KindMutex})
			if got == "" != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s refuses %.20q with %q, want %q", backend, name, got, want)
			}
		}
	}
	var b operate.Backend
	redisDriver(Host{}, config.Source{}, &b)
	owned := &sources.Primitive{Ref: sources.Ref{Name: "a\uFFFDb"}, Kind: sources.KindMutex, Owners: []sources.Owner{{ID: "a"}}}
	if why := b.Refuses(owned); why != "" {
		t.Errorf("a key that is as it is shown cannot be waited for: %s", why)
	}
}
