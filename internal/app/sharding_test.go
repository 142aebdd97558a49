package app

import (
	"strings"
	"testing"

	"coordtop/internal/emulator/dflocktest"
)

// TestClientsWithAShardFunctionOfTheirOwnNameTheServer claims one key on each of two servers, so on one to which its
// hash does not belong.
func TestClientsWithAShardFunctionOfTheirOwnNameTheServer(t *testing.T) {
	t.Parallel()
	a, url := dflockd(t, dflocktest.Options{})
	b, _ := dflockd(t, dflocktest.Options{})
	url += "," + b.Addr()
	file := "sources:\n- {name: d, url: '" + url + "?sharding=custom', watch: [{mutex: job}]}\n"
	for _, s := range []*dflocktest.Server{a, b} {
		holdsWith(t, file, "acquire", "--write", "--yes", "d/"+s.Addr()+"/job").line(1, "acquired")
		if e, err := s.Entry("job"); err != nil || len(e.Owners) != 1 {
			t.Errorf("it is %+v, %v", e, err)
		}
	}
	w := newWorld(t)
	if code := w.main(t.Context(), "get", url+"?sharding=custom&mutex=job"); code != exitOK || strings.Count(w.stdout.String(), "held") != 2 || strings.Contains(w.stdout.String()+w.stderr.String(), "hash") {
		t.Errorf("exit code %d: %s%s", code, w.stdout, w.stderr)
	}
	for sharding, code := range map[string]int{"custom": exitUsage, "md5": exitUsage} {
		w := newWorld(t)
		if got := w.main(t.Context(), "acquire", "--write", "--yes", url+"?mutex=job&sharding="+sharding); got != code {
			t.Errorf("%s: exit code %d: %s", sharding, got, w.stderr)
		}
	}
}
