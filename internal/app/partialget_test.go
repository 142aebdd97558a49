package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// TestACheckIsNeverGreenBecauseItDidNotLook has a lock that is stuck among more keys than are read
// in the time.
func TestACheckIsNeverGreenBecauseItDidNotLook(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it reads half a million keys; other tests read keys with the race detector")
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c, url := writer(t, s.Addr()), "redis://"+s.Addr()
	for i := range 40 {
		fill := `for i=1,10000 do redis.call('SET','page:'..ARGV[1]..':'..i,'<html>') end redis.call('HSET','orders','8743c9c0-0795-4907-87fd-6c719a6b4586:51','1')`
		if err := c.Eval(t.Context(), fill, nil, i).Err(); err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"", "?keys=*order*", "?keys=*order*&keys=app:leader"} {
		said := false
		for _, within := range []string{"300ms", "600ms", "1200ms", "2400ms", "4800ms"} { // until the server has answered at all
			w := newWorld(t)
			code := w.main(t.Context(), "get", "-o", "json", "--timeout", within, "--fail-on", "late", url+"/0"+query)
			if code == exitOK || strings.Contains(w.stdout.String(), `"synced":true`) {
				t.Errorf("%s within %s: exit code %d", query, within, code)
			}
			says := w.stderr.String()
			if said = code == exitTimeout && strings.Contains(says, "--timeout") && strings.Contains(says, "?keys="); said {
				break
			}
		}
		if !said {
			t.Errorf("%s: no look says how to make it whole", query)
		}
	}
	w := newWorld(t)
	if code := w.main(t.Context(), "get", "-o", "json", "--timeout", "5m", "--fail-on", "no-ttl", url); code != exitFailed || !strings.Contains(w.stdout.String(), `"synced":true`) {
		t.Errorf("exit code %d: %s", code, w.stderr)
	}
	w = newWorld(t)
	if code := w.main(t.Context(), "get", "--timeout", "5s", url+"/0?keys=orders"); code != exitOK {
		t.Errorf("a name needs no sweep: exit code %d: %s", code, w.stderr)
	}
}
