package redissource

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestNamesAreShown(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/ground/legible/testdata/names.txt")
	noError(t, err)
	list := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(list) < 1000 {
		t.Fatalf("%d names", len(list))
	}
	var hidden []string
	for _, name := range list {
		o := ownerOf(lockReading(0, name, noTTL))
		if o.Label != name || o.ID != name {
			hidden = append(hidden, name)
		}
	}
	if len(hidden)*100 > len(list)*5 {
		t.Errorf("%d of %d names are not shown: %q", len(hidden), len(list), hidden)
	}
}

func TestLegiblePatternIsShown(t *testing.T) {
	t.Parallel()
	patterns := []*regexp.Regexp{regexp.MustCompile(`^[0-9a-f]{12}$`), regexp.MustCompile(`"by":"([^"]+)"`), regexp.MustCompile(`^8743c9c0.*:51$`)}
	for value, want := range map[string][2]string{ // label, ID
		"0123456789ab":                 {"0123456789ab", "0123456789ab"},
		`{"by":"x1y2z3","token":"qq"}`: {"x1y2z3", "#2097879a"},
		"0123456789abcdef":             {"#fe5567e8", "#fe5567e8"},
		"worker-b":                     {"worker-b", "worker-b"},
	} {
		o := ownerOf(lockReading(0, value, noTTL), patterns...)
		if o.Label != want[0] || o.ID != want[1] {
			t.Errorf("%q: label %q, ID %q, want %q", value, o.Label, o.ID, want)
		}
	}
	o := ownerOf(&reading{shape: table, typ: "hash", fields: map[string]string{"8743c9c0-0795-4907-87fd-6c719a6b4586:51": "1"}}, patterns...)
	if o.Label != "8743c9c0-0795-4907-87fd-6c719a6b4586:51" || o.ID[0] != '#' {
		t.Errorf("%+v", o)
	}
}

// TestAKeyThatNamesAnOwnerIsNotListed has the keys that Redisson keeps beside the readers of
// a read-write lock: their names hold what the hash is released with.
func TestAKeyThatNamesAnOwnerIsNotListed(t *testing.T) {
	t.Parallel()
	const field = "8743c9c0-0795-4907-87fd-6c719a6b4586:51"
	beside := "{app:lock:x}:" + field + ":rwlock_timeout:1"
	for _, list := range [][]Selection{nil, {{Pattern: "*lock*"}}} {
		if _, ok := compile(list).find(beside); ok {
			t.Errorf("%v selects it", list)
		}
	}
	if _, ok := compile([]Selection{{Pattern: beside}}).find(beside); !ok {
		t.Error("its own name does not select it")
	}
	if _, ok := compile(nil).find("app:lock:rwlock_timeout:x"); !ok {
		t.Error("another key is not selected")
	}
	r := setup(t, localserver.RedisOptions{}, Options{Selections: []Selection{{Pattern: "*app:lock:*"}}},
		[]any{"HSET", "app:lock:x", field, "1", "mode", "read"}, []any{"SET", beside, "1", "PX", "600000"}).synced()
	r.Row("", "app:lock:x", "held", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 })
	if rows := r.Hub.State().Rows; len(rows) != 1 {
		t.Errorf("%d rows", len(rows))
	}
}
