package redissource

import (
	"fmt"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

const (
	uuidA = "07221940-03fa-41e1-98c6-ea5f0efb9a90"
	uuidB = "11111111-03fa-41e1-98c6-ea5f0efb9a90"
)

func TestEveryChangeIsNamedRightlyAndOnce(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, []any{"SET", "app:leader:old", uuidA, "PX", "60000"})
	present := r.Expect(sources.EventPresent, "app:leader:old")
	if present.How != sources.AtLeast {
		t.Errorf("what was there is known %v", present.How)
	}
	r.synced()

	r.do("SET", "app:leader:x", uuidA, "NX", "PX", "30000")
	e := r.Expect(sources.EventAcquired, "app:leader:x")
	if !noticed(e) || e.Owner.ID == "" || e.Owner.ID == uuidA {
		t.Errorf("acquired: %+v", e)
	}
	r.do("SET", "app:leader:x", uuidB, "NX", "PX", "30000") // lost: nothing to tell
	r.do("GET", "app:leader:x")
	r.do("PEXPIRE", "app:leader:x", "40000")
	r.Expect(sources.EventRenewed, "app:leader:x")
	r.do("SET", "app:leader:x", uuidA+" region=eu", "XX", "KEEPTTL")
	r.Expect(sources.EventProclaimed, "app:leader:x")
	r.do("DEL", "app:leader:x")
	if e := r.Expect(sources.EventReleased, "app:leader:x"); e.Cause != sources.CauseReleased || e.How != sources.Inferred {
		t.Errorf("released: %+v", e)
	}
	r.do("SET", "app:leader:x", uuidB+" host-1:42", "PX", "30000")
	if e := r.Expect(sources.EventAcquired, "app:leader:x"); e.Owner.Label != "host-1:42" {
		t.Errorf("acquired again: %+v", e)
	}
	r.do("SET", "app:leader:x", uuidA, "PX", "1000")
	r.Expect(sources.EventOwnerChanged, "app:leader:x")
	r.ranOut("app:leader:x")
	r.do("SET", "app:leader:y", uuidA, "PX", "30000")
	r.do("SET", "other", uuidA)
	r.Expect(sources.EventAcquired, "app:leader:y")
	r.do("RENAME", "app:leader:y", "app:leader:z")
	seen := map[sources.EventKind]string{}
	for range 2 {
		e := r.Next()
		seen[e.Kind] = e.Ref.Name
	}
	if seen[sources.EventReleased] != "app:leader:y" || seen[sources.EventAcquired] != "app:leader:z" {
		t.Errorf("renamed: %v", seen)
	}
	r.do("PERSIST", "app:leader:z")
	r.Row("", "app:leader:z", "held without end", func(row *sources.Row, _ *sources.State) bool {
		return len(row.Owners) == 1 && row.Owners[0].NoExpiry && row.Owners[0].Expires == sources.Stamp{}
	})
	if about := r.mode(modeTracking); about.Sampling != 0 || about.Role != "master" || about.Version == "" || len(about.Warnings) > 0 {
		t.Errorf("about: %+v", about)
	}
}

// TestARenewalThatRewritesPartOfTheValueIsARenewal has an owner write when it renewed.
func TestARenewalThatRewritesPartOfTheValueIsARenewal(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}).synced()
	value := func(id string, second int) string {
		return fmt.Sprintf(`{"id":"%s","renewedAt":"2026-01-02T03:04:%02dZ"}`, id, second)
	}
	r.do("SET", "app:leader:x", value("x7", 10), "PX", "30000")
	r.Expect(sources.EventAcquired, "app:leader:x")
	for i := range 3 {
		r.do("SET", "app:leader:x", value("x7", 20+i), "PX", 60000+10000*i)
		r.Expect(sources.EventRenewed, "app:leader:x")
	}
	r.do("SET", "app:leader:x", value("x8", 22), "PX", "60000")
	r.Expect(sources.EventOwnerChanged, "app:leader:x")
}
