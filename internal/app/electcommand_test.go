package app

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/localserver"
)

func TestElectRunsItsHooksAroundTheCommandAndResigns(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := holdsIn(t, append(shellPath(), "COORDTOP_FENCE=7"), "", "elect", "--data", "eu",
		"--on-won", "echo won $COORDTOP_NAME $COORDTOP_FENCE; sleep 100 &", "--on-lost", "echo lost $COORDTOP_CAUSE; exit 4",
		server.URL()+"?election=app:leader:x", "--", "sh", "-c", "echo leads >&2; read line; exit 3")
	h.says("leads\n")
	if value, err := c.Get(t.Context(), "app:leader:x").Result(); err != nil || !strings.HasSuffix(value, " eu") {
		t.Errorf("the key has %q, %v", value, err)
	}
	h.types("")
	h.ends(3)
	gone(t, c, "app:leader:x")
	if want := "won app:leader:x\nleads\nlost released\ncoordtop: 127.0.0.1/0/app:leader:x: --on-lost: exit status 4\n"; h.errs.String() != want {
		t.Errorf("it said %q, want %q", h.errs, want)
	}
}

func TestElectWithoutACommandLeadsUntilASignal(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := runsUnder(t, "", "elect", "--on-won", "echo won", "--on-lost", "echo lost $COORDTOP_CAUSE", server.URL()+"?election=app:leader:x")
	h.says("won\n")
	if err := c.Del(t.Context(), "app:leader:x").Err(); err != nil {
		t.Fatal(err)
	}
	h.says("lost lost\n")
	h.errs.await(t, func(s string) bool { return strings.Count(s, "won\n") == 2 })
	h.signals(syscall.SIGTERM)
	h.ends(exitOK)
	gone(t, c, "app:leader:x")
	if !strings.HasSuffix(h.errs.String(), "lost released\n") {
		t.Errorf("it said %q", h.errs)
	}
}

func TestElectOnceEndsWithTheTerm(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := runsUnder(t, "", "elect", "--once", server.URL()+"?election=app:leader:x", "--", "sh", "-c", endless)
	h.prints(" in\n")
	if err := c.Del(t.Context(), "app:leader:x").Err(); err != nil {
		t.Fatal(err)
	}
	h.ends(exitLost)
	h.dead()
}

func TestElectRestartsACommandThatEnds(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := runsUnder(t, "", "elect", "--restart", server.URL()+"?election=app:leader:x", "--", "sh", "-c", "echo ran; exit 3")
	h.prints("ran\nran\n")
	h.errs.await(t, func(s string) bool {
		return strings.Count(s, "the command ended with exit code 3, campaigning again in ") == 2
	})
	gone(t, c, "app:leader:x")
	h.signals(syscall.SIGTERM) // in the pause
	h.ends(128 + int(syscall.SIGTERM))
}

func TestASlowHookIsKilledAndDelaysNoRenewal(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a hook has 10 s")
	}
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	h := runsUnder(t, "", "elect", "--once", "--lease", "2s", "--on-won", "sleep 100; echo never",
		server.URL()+"?election=app:leader:x", "--", "echo", "leads")
	h.ends(exitOK)
	if h.out.String() != "leads\n" || !strings.Contains(h.errs.String(), "--on-won: ") || strings.Contains(h.errs.String(), "never") {
		t.Errorf("it printed %q and %q", h.out, h.errs)
	}
}

func TestSignalsAreTheCommands(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	for _, verb := range []string{"lock", "elect"} {
		for name, s := range map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "USR1": syscall.SIGUSR1} {
			t.Run(verb+" "+name, func(t *testing.T) {
				t.Parallel()
				key := "app:" + verb + ":" + name
				kind := map[string]string{"lock": "mutex", "elect": "election"}[verb]
				h := runsUnder(t, "", verb, server.URL()+"?"+kind+"="+key, "--", "sh", "-c",
					fmt.Sprintf("trap 'echo got; exit 4' %s; echo in; while :; do sleep 0.01; done", name))
				h.prints("in\n")
				h.signals(s)
				h.ends(4)
				if h.out.String() != "in\ngot\n" || strings.Contains(h.errs.String(), "coordtop") {
					t.Errorf("it printed %q and %q", h.out, h.errs)
				}
				gone(t, c, key)
			})
		}
	}
}
