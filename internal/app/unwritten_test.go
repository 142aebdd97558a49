package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/localserver"
)

func TestWhatTheAuditLacksAtTheEndIsSaid(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	h := holds(t, "campaign", "--write", "--yes", server.URL()+"?election=app:leader:x")
	h.line(1, "acquired")
	h.recorded("campaign after done")
	file := filepath.Join(h.home(), ".local", "state", "coordtop", auditName)
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	h.signals(syscall.SIGTERM)
	h.line(2, "resigning")
	h.line(3, "resigned")
	h.ends(exitOK)
	said := h.errs.String()
	if !strings.Contains(said, "the audit could not be written") || strings.Count(said, `"action":"resign"`) != 2 {
		t.Errorf("it said %q", said)
	}
}
