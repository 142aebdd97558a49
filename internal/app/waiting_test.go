package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

func TestWhoWaitsIsToldForWhomAndCanCallItOff(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:leader:x", "host-a:1", time.Minute)
	h := holds(t, "campaign", "--write", "--yes", server.URL()+"?election=app:leader:x")
	h.says("app:leader:x: led by host-a:1; there is no queue to be seen")
	set(t, c, "app:leader:x", "host-b:2", time.Minute)
	h.says("app:leader:x: led by host-b:2;")
	h.types("proclaim now")
	h.line(1, "refused")
	h.types("resign")
	if l := h.line(2, "resigned"); l.Owner != nil || l.Detail == nil {
		t.Errorf("it says %+v", l)
	}
	h.ends(exitOK)
	if n := strings.Count(h.errs.String(), "\n"); n != 2 {
		t.Errorf("it said %q", h.errs)
	}
	if value, err := c.Get(t.Context(), "app:leader:x").Result(); value != "host-b:2" {
		t.Errorf("the key has %q, %v", value, err)
	}
	if got := strings.Join(h.audit(), ", "); got != "campaign before, campaign after called off" {
		t.Errorf("the audit has %q", got)
	}
}

func TestWhoWaitsInAQueueIsToldTheirPlace(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	other := connect(t, server.URL())
	if _, err := other.Exec(t.Context(), "select pg_advisory_lock(17, -4)"); err != nil {
		t.Fatal(err)
	}
	h := holds(t, "acquire", "--write", "--yes", server.URL()+"&mutex=17:-4")
	h.says("we are number 1 of 1 in the queue")
	second := holds(t, "acquire", "--write", "--yes", server.URL()+"&mutex=17:-4")
	second.says("we are number 2 of 2 in the queue, whose order is inferred, behind ")
	second.says(fmt.Sprintf(":%d pid ", h.cmd.Process.Pid))
	if _, err := other.Exec(t.Context(), "select pg_advisory_unlock(17, -4)"); err != nil {
		t.Fatal(err)
	}
	h.line(1, "acquired")
	h.says("coordtop: it is ours after ")
	h.types("resign")
	h.line(2, "resigning")
	h.line(3, "resigned")
	h.ends(exitOK)
	second.line(1, "acquired")
}

// says waits for a text on standard error.
func (h *kept) says(text string) {
	h.t.Helper()
	h.errs.await(h.t, func(s string) bool { return strings.Contains(s, text) })
}
