package app

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/internal/mute"
	"coordtop/internal/operate"
)

// mutesOf returns the mutes of a world, as ana makes them.
func mutesOf(w *world) *operate.Mutes {
	return operate.NewMutes(operate.NewAuditLog(filepath.Join(w.home, ".local", "state", "coordtop", auditName), operate.Actor{User: "ana", Host: "jump"}))
}

func TestGetAndWhyLeaveOutWhatIsMutedOnlyWhereThatIsAsked(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	redis := writer(t, server.Addr())
	set(t, redis, "job", "host-1:7", 0)
	set(t, redis, "lead", "host-1:7", time.Hour)
	w := newWorld(t)
	w.write(t, configFile, "sources: [{name: leases, url: 'redis://"+server.Addr()+"/0', watch: [{mutex: job}, {election: lead}]}]\n")
	mutes := mutesOf(w)
	run := func(want int, args ...string) string {
		t.Helper()
		w.stdout, w.stderr = newStream(), newStream()
		if code := w.main(t.Context(), args...); code != want {
			t.Errorf("%q: exit code %d, want %d: %s%s", args, code, want, w.stdout, w.stderr)
		}
		return w.stdout.String()
	}
	if out := run(exitFailed, "get", "--problems", "--fail-on", "any"); !strings.Contains(out, "job") || strings.Contains(out, "lead") {
		t.Errorf("only what has a problem:\n%s", out)
	}
	run(exitFailed, "why")
	m := mute.Mute{At: time.Now(), Until: time.Now().Add(time.Hour), Text: "INC-7", Filter: "kind=mutex", Servers: map[string]string{"leases": "redis://" + server.Addr() + "/0"}}
	if err := mutes.Add(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	run(exitFailed, "get", "--problems", "--fail-on", "any")
	run(exitFailed, "why")
	if out := run(exitOK, "get", "--problems", "--fail-on", "any", "--unacknowledged"); strings.Contains(out, "job") {
		t.Errorf("it is left out:\n%s", out)
	}
	run(exitOK, "why", "--unacknowledged")
	for _, args := range [][]string{{"get", "-o", "json"}, {"why", "-o", "json"}} {
		if out := run(map[bool]int{true: exitOK, false: exitFailed}[args[0] == "get"], args...); !strings.Contains(out, `"acknowledged":{"by":"ana@jump","until":"`) || !strings.Contains(out, `"text":"INC-7"}`) {
			t.Errorf("%q does not name who knows it: %s", args, out)
		}
	}
	run(exitUsage, "get", "--unacknowledged")
	if err := redis.Do(t.Context(), "DEL", "lead").Err(); err != nil {
		t.Fatal(err)
	}
	run(exitFailed, "why", "--unacknowledged")
}
