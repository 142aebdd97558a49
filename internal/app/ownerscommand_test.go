package app

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// ownersAnswer is what the test reads of the JSON of owners.
type ownersAnswer struct {
	By     string
	Owners []struct {
		Name  string
		Leads int
		Falls struct{ Rows, Alone int }
		Owns  []struct{ Name, Ends, Next string }
	}
}

func ownersOf(t *testing.T, w *world, want int, args ...string) (a ownersAnswer) {
	t.Helper()
	w.stdout, w.stderr = newStream(), newStream()
	code := w.main(t.Context(), append([]string{"owners", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(w.stdout.String()), &a); err != nil || code != want {
		t.Fatalf("%q: exit code %d, want %d, %v: %s%s", args, code, want, err, w.stdout, w.stderr)
	}
	return a
}

func TestOwnersSaysWhatFallsIfAHostIsDrained(t *testing.T) {
	t.Parallel()
	leases, more := localserver.RedisForTest(t, localserver.RedisOptions{}), localserver.RedisForTest(t, localserver.RedisOptions{})
	urls := []string{"redis://" + leases.Addr() + "/0?election=a&election=b", "redis://" + more.Addr() + "/0?mutex=job"}
	set(t, writer(t, leases.Addr()), "a", "host-1:7", time.Hour)
	set(t, writer(t, leases.Addr()), "b", "host-2:7", time.Hour)
	set(t, writer(t, more.Addr()), "job", "host-1:8", 2*time.Hour)
	w := newWorld(t)
	a := ownersOf(t, w, 0, urls...)
	if len(a.Owners) != 2 || a.Owners[0].Name != "host-1" || a.Owners[0].Leads != 1 || a.Owners[0].Falls.Rows != 2 || a.Owners[0].Falls.Alone != 2 {
		t.Fatalf("of two servers: %+v", a)
	}
	if h := a.Owners[0].Owns; len(h) != 2 || h[0].Name != "a" || h[0].Ends != "lease" || h[0].Next != "unknown" {
		t.Errorf("it owns %+v", h)
	}
	if a := ownersOf(t, w, 0, append([]string{"host-2"}, urls...)...); len(a.Owners) != 1 || a.Owners[0].Name != "host-2" {
		t.Errorf("of one host: %+v", a)
	}
	if a := ownersOf(t, w, 0, slices.Concat([]string{"--by", "session", "host-1:8"}, urls)...); len(a.Owners) != 1 || a.By != "session" {
		t.Errorf("of one session: %+v", a)
	}
	if a := ownersOf(t, w, exitNotFound, append([]string{"host-9"}, urls...)...); len(a.Owners) != 0 {
		t.Errorf("of a host that owns nothing: %+v", a)
	}
	w.stdout, w.stderr = newStream(), newStream()
	code := w.main(t.Context(), append([]string{"owners", "host-1"}, urls...)...)
	if out := w.stdout.String(); code != 0 || !strings.Contains(out, "if host-1 goes, these 2 fall, the longest in 2h00m") && !strings.Contains(out, "the longest in 1h59m") {
		t.Errorf("as text: exit code %d: %s%s", code, out, w.stderr)
	}
	if code := w.main(t.Context(), "owners", "--by", "label"); code != 2 {
		t.Errorf("another grouping: exit code %d", code)
	}
	more.Stop(t.Context())
	if a := ownersOf(t, w, exitNoAnswer, append([]string{"--timeout", "1s", "host-1"}, urls...)...); len(a.Owners) != 1 || a.Owners[0].Falls.Rows != 1 {
		t.Errorf("with one server gone: %+v", a)
	}
}
