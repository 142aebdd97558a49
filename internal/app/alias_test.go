package app

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

func TestAnAliasIsShownAndTakenByEveryCommandThatTakesAName(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	login(t, server.URL(), "mary").does("select pg_advisory_lock(4242)", "select pg_advisory_lock(72707369)")
	w := newWorld(t)
	w.write(t, configFile, fmt.Sprintf("sources: [{name: b, url: '%s'}]\nnames: {b: {'4242': ledger/compactor}}", server.URL()))
	ctx, end := context.WithCancel(t.Context())
	recorded := make(chan int)
	go func() { recorded <- w.main(ctx, "record") }() // received below
	w.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into "+w.home) })
	run := func(code int, shows string, args ...string) bool {
		other := *w
		other.stdout, other.stderr, other.record = newStream(), newStream(), true
		got, out := other.main(t.Context(), args...), ""
		if out = other.stdout.String() + other.stderr.String(); got != code || !strings.Contains(out, shows) {
			t.Logf("%q: exit code %d, want %d with %q:\n%s", args, got, code, shows, out)
			return false
		}
		return true
	}
	for !run(0, "b/4242 (ledger/compactor)", "history", "b/ledger/compactor") && t.Context().Err() == nil {
	} // until it is recorded
	guard := *look(t, w, "b/ledger/compactor").Primitives[0].Owners[0].Guard
	asked := *w
	asked.stdout, asked.stderr, asked.record = newStream(), newStream(), true
	asked.tty = true
	if code := asked.main(t.Context(), "release", "b/4242", "--if-owner", guard); code != exitUsage || !strings.Contains(asked.stderr.String(), "Type 4242 or ledger/compactor to end this ownership") {
		t.Errorf("exit code %d: %s", code, asked.stderr)
	}
	for _, tt := range []struct {
		code  int
		shows string
		args  []string
	}{
		{0, "ledger/compactor", []string{"wait", "b/ledger/compactor", "--for", "led"}},
		{4, "not found", []string{"get", "b/Prisma Migrate"}}, // a guess
		{4, "not found", []string{"history", "b/Prisma Migrate"}},
		{0, "(Prisma Migrate)", []string{"history", "b/72707369"}},
		{0, `"alias":{"text":"ledger/compactor","known":"told"}`, []string{"release", "b/ledger/compactor", "--if-owner", guard, "--write", "--yes"}},
		{0, "b/ledger/compactor 4242", []string{"report", "b/ledger/compactor"}},
		{0, `"alias":{"text":"ledger/compactor","known":"told"}`, []string{"history", "ledger/compactor", "-o", "json"}},
	} {
		if !run(tt.code, tt.shows, tt.args...) {
			t.Errorf("see the log about %q", tt.args)
		}
	}
	end()
	<-recorded
}
