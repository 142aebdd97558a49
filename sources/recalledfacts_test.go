package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestOneLookRecallsWhatTheServerDoesNotTellAgain looks at minute 1 at a lock whose lease is not renewed, at waiters, at
// how often it changed, and at a server that became another one.
func TestOneLookRecallsWhatTheServerDoesNotTellAgain(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	row := func(read int, lease time.Duration, ends int, waits ...sources.Waiter) *sources.Row {
		o := sources.Owner{ID: "x", Lease: lease, Expires: sources.StampBetween(at(ends), at(ends), sources.Told)}
		return &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "a"}, Kind: sources.KindMutex, Limit: 1, Taken: 1, LimitHow: sources.Told,
			OwnersHow: sources.Told, Owners: []sources.Owner{o}, Queue: sources.Queue{How: sources.Told, Len: len(waits), Waiters: waits}, At: at(read)}}
	}
	waiter := func(id string, since int, how sources.Known) sources.Waiter {
		return sources.Waiter{ID: id, Since: sources.Stamp{At: at(since), How: how}}
	}
	server := []sources.SourceStatus{{Name: "s", Type: "redis", Health: sources.HealthLive}}
	scope := func(incarnation, became string) sources.Scope {
		return sources.Scope{Source: "s", Health: sources.HealthLive, Synced: true, Alive: at(60), About: sources.About{Incarnation: incarnation, Became: became}}
	}
	was := row(10, 90*time.Second, 100, waiter("w", 5, sources.Seen))
	was.Activity = &sources.Activity{Minute: 1}
	last := &sources.Keyframe{At: sources.Instant{Wall: at(20)}, Sources: []sources.SourceFacts{{SourceStatus: server[0]}}, Scopes: []sources.ScopeFacts{{Scope: scope("2", "another server")}}, Rows: []*sources.Row{was}}
	for _, c := range []struct {
		name        string
		is          *sources.Row
		incarnation string
		lease       time.Duration
		since       int
		became      string
	}{
		{"all as it was", row(60, 40*time.Second, 100, waiter("w", 60, sources.AtLeast)), "2", 90 * time.Second, 5, "another server"},
		{"it was renewed, and another waits", row(60, 70*time.Second, 130, waiter("v", 60, sources.AtLeast)), "2", 70 * time.Second, 60, "another server"},
		{"the server tells since when it waits", row(60, 40*time.Second, 100, waiter("w", 7, sources.Told)), "2", 90 * time.Second, 7, "another server"},
		{"it has changed since", row(60, 40*time.Second, 100, waiter("w", 60, sources.AtLeast)), "3", 90 * time.Second, 5, ""},
	} {
		look := &sources.State{At: at(60), Sources: server, Scopes: []sources.Scope{scope(c.incarnation, "")}, Rows: []*sources.Row{c.is}}
		s := last.Recall(look)
		got := s.Rows[0]
		if lease, since := got.Owners[0].Lease, got.Queue.Waiters[0].Since.At; lease != c.lease || !since.Equal(at(c.since)) || got.Activity != was.Activity {
			t.Errorf("%s: a lease of %v, it waits since %v, %v", c.name, lease, since, got.Activity)
		}
		if became := s.Scopes[0].About.Became; became != c.became {
			t.Errorf("%s: the server became %q", c.name, became)
		}
		if c.is.Activity != nil || look.Scopes[0].About.Became != "" || c.is.Owners[0].Lease != c.is.Primitive.Owners[0].Lease {
			t.Errorf("%s: the look itself is changed", c.name)
		}
	}
}
