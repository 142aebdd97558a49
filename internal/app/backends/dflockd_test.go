package backends

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// TestWhatEndsAnothersLockOfDflockdIsSaid: the server frees a lock only for who knows the nonce.
func TestWhatEndsAnothersLockOfDflockdIsSaid(t *testing.T) {
	t.Parallel()
	var b operate.Backend
	dflockdDriver(Host{}, config.Source{}, &b)
	if b.Force == nil {
		t.Fatal("it does not say why")
	}
	now := time.Now()
	for want, ends := range map[string]sources.Stamp{
		"its lease ends in 17s unless renewed; ":    {At: now.Add(16800 * time.Millisecond), How: sources.Told},
		"has run out, and the server will end it; ": {At: now, How: sources.Told},
		"its lease ends unless renewed; ":           {},
	} {
		got := dflockdEnd(&sources.Owner{ID: "conn 7", Expires: ends}, now)
		if !strings.Contains(got, want) || !strings.Contains(got, "no command can free another's lock") || !strings.Contains(got, "closing its client's connection") {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if why := b.Force.Refuses(nil, &sources.Owner{}); why == "" {
		t.Error("another's lock can be freed")
	}
}
