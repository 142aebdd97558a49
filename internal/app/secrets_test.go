package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// foreignLock is a lock as a library writes it: its value, what in that proves ownership, and
// who a person is told to own it; "": a checksum.
type foreignLock struct{ value, nonce, label string }

const foreignUUID = "9b2f1c7e-5d3a-4e8b-a1c6-7f0e2d4b6a98"

func foreignLocks() map[string]foreignLock {
	return map[string]foreignLock{
		"bullmq":    {foreignUUID + ":0", foreignUUID, ""},
		"laravel":   {`s:16:"Xb3kQ9zT1mN7pL2s";`, "Xb3kQ9zT1mN7pL2s", ""},
		"at":        {foreignUUID + "@host-4", foreignUUID, "host-4"},
		"json":      {`{"token":"` + foreignUUID + `"}`, foreignUUID, ""},
		"jwt":       {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3b3JrZXIifQ.c2lnbmF0dXJlLW9mLWl0", "c2lnbmF0dXJlLW9mLWl0", ""},
		"rand":      {"QRSJ5NVK7ZHBD2XW4GTFP6MCYA", "QRSJ5NVK7ZHBD2XW4GTFP6MCYA", ""},
		"base32":    {"MFRGGZDFMZTWQ2LK", "MFRGGZDFMZTWQ2LK", ""},
		"letters":   {"qzjxvkwpyhbfgmtd", "qzjxvkwpyhbfgmtd", ""},
		"short":     {"k3x9-ab2f-q7pz", "k3x9-ab2f-q7pz", ""},
		"redislock": {"qpOQo6sePYlUYc5vCIyfegworker-7@host-a", "qpOQo6sePYlUYc5vCIyfeg", "worker-7@host-a"},
		"sidekiq":   {"web-1:4711:0a1b2c3d4e5f", "0a1b2c3d4e5f", "web-1:4711"},
		"shedlock":  {"ADDED:2026-01-02T03:04:05.678Z@web-1:" + foreignUUID, foreignUUID, "web-1"},
		"redsync":   {"3q2+7wEjRWeJq83vASNFZw==", "3q2+7wEjRWeJq83vASNFZw==", ""},
		"leader":    {foreignUUID + " host-3:4711 redis://u:Xb3kQ9zT1mN7@h", foreignUUID, "host-3:4711"},
		"resque":    {"web-1:4711", "no nonce at all", "web-1:4711"},
	}
}

// leaks reports whether eight characters in a row of a nonce stand in a text.
func leaks(text, nonce string) bool {
	for i := 0; i+8 <= len(nonce); i++ {
		if strings.Contains(text, nonce[i:i+8]) {
			return true
		}
	}
	return false
}

// TestNothingPrintedRemovesALibrarysLock looks at locks of the libraries in every way there
// is, and then has each library's release script try whatever was printed.
func TestNothingPrintedRemovesALibrarysLock(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	locks := foreignLocks()
	delete(locks, "resque") // its name is its proof
	for name, l := range locks {
		set(t, c, "app:lock:"+name, l.value, time.Hour)
	}
	c.HSet(t.Context(), "app:lock:redisson", foreignUUID+":51", "1")
	url := server.URL() + "?mutex=app:lock:*"
	var printed strings.Builder
	for _, args := range [][]string{{"get"}, {"get", "-o", "json"}} {
		w := newWorld(t)
		if code := w.main(t.Context(), append(args, url)...); code != 0 {
			t.Fatalf("exit code %d: %s", code, w.stderr)
		}
		printed.WriteString(w.stdout.String() + w.stderr.String())
	}
	for _, format := range []string{"json", "text"} {
		run := watch(t, newWorld(t), url, "-o", format)
		run.stdout.await(t, func(text string) bool { return strings.Contains(text, "synced") })
		for name, l := range locks {
			set(t, c, "app:lock:"+name, l.value, 2*time.Hour)
			set(t, c, "app:lock:"+name+":"+format, l.value, time.Hour)
		}
		told := func(times int) {
			run.stdout.await(t, func(text string) bool {
				return !slices.ContainsFunc(slices.Collect(maps.Keys(locks)), func(name string) bool {
					return strings.Count(text, "app:lock:"+name+":"+format) < times
				})
			})
		}
		told(1)
		for name := range locks {
			c.Del(t.Context(), "app:lock:"+name+":"+format)
		}
		told(2)
		run.end()
		<-run.done
		printed.WriteString(run.stdout.String() + run.stderr.String())
	}
	for name, l := range locks {
		if leaks(printed.String(), l.nonce) || strings.Contains(printed.String(), "Xb3kQ9zT1mN7") {
			t.Errorf("%s: %q of %q is printed", name, l.nonce, l.value)
		}
	}
	release := redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
	for _, word := range words(printed.String()) {
		for name := range locks {
			if n, err := release.Run(t.Context(), c, []string{"app:lock:" + name}, word).Int(); n != 0 || err != nil {
				t.Errorf("%s: %q removes the lock: %d, %v", name, word, n, err)
			}
		}
		if n := c.HDel(t.Context(), "app:lock:redisson", word).Val(); n != 0 {
			t.Errorf("%q removes Redisson's lock", word)
		}
	}
}

// words are what somebody might copy from an output: every word of it, every line, and every
// text of JSON.
func words(text string) []string {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		set[line] = true
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(` ",`, r) }) {
			set[w] = true
		}
		var v any
		if json.Unmarshal([]byte(line), &v) == nil {
			texts(v, set)
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func texts(v any, set map[string]bool) {
	switch v := v.(type) {
	case string:
		set[v] = true
	case []any:
		for _, x := range v {
			texts(x, set)
		}
	case map[string]any:
		for _, x := range v {
			texts(x, set)
		}
	}
}

func TestLegiblePartOfALockIsItsLabel(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	locks := foreignLocks()
	for name, l := range locks {
		set(t, c, "app:lock:"+name, l.value, time.Hour)
	}
	set(t, c, "app:lock:agent", "agent=ci 7;"+foreignUUID, time.Hour)
	locks["agent"] = foreignLock{label: "ci 7"}
	w := newWorld(t)
	w.write(t, configFile, fmt.Sprintf("sources: [{name: r, url: '%s', watch: [{mutex: 'app:lock:*'}], legible: ['^agent=([^;]+);']}]\n", server.URL()))
	if code := w.main(t.Context(), "get", "-o", "json"); code != 0 {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	var got struct {
		Primitives []struct {
			Name   string
			Owners []struct {
				ID, Label, Guard string
				Data             *struct{ Text *string }
			}
		}
	}
	if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Primitives) != len(locks) {
		t.Fatalf("%d locks", len(got.Primitives))
	}
	for _, p := range got.Primitives {
		l, o := locks[strings.TrimPrefix(p.Name, "app:lock:")], p.Owners[0]
		named := l.label == l.value
		if named != (o.ID == l.value) || !named && (len(o.ID) != 9 || o.ID[0] != '#') || len(o.Guard) != 40 {
			t.Errorf("%s: id %q, guard %q", p.Name, o.ID, o.Guard)
		}
		if l.label != "" && o.Label != l.label || l.label == "" && o.Label != o.ID {
			t.Errorf("%s: label %q, want %q", p.Name, o.Label, l.label)
		}
		if text := o.Data; p.Name == "app:lock:leader" && (text == nil || *text.Text != "host-3:4711 redis://u:***@h") {
			t.Errorf("data %+v", text)
		}
	}
}
