package uitest

import (
	"fmt"
	"hash/crc32"
	"time"

	"coordtop/sources"
)

// Redis is the source of hand-made states.
const Redis = "leases"

// State is a state of one live source "leases" with these primitives in this order, made
// by hand: each owner has the running term.
func State(at time.Time, prims ...*sources.Primitive) *sources.State {
	st := &sources.State{
		Rev: 1, At: at, Thresholds: sources.DefaultThresholds(),
		Scopes:  []sources.Scope{{Source: Redis, Health: sources.HealthLive, Synced: true, Alive: at, About: sources.About{Mode: "tracking"}}},
		Sources: []sources.SourceStatus{{Name: Redis, Type: "redis", Address: "redis-leases:6379/0", Health: sources.HealthLive, Rows: len(prims)}},
	}
	for i, p := range prims {
		st.Rows = append(st.Rows, Row(p, i))
	}
	return st
}

// Row makes a row of State by hand. Its generation follows from the name, so that a slot
// is never the same handle for two names.
func Row(p *sources.Primitive, slot int) *sources.Row {
	row := &sources.Row{Primitive: p, Slot: slot, Gen: crc32.ChecksumIEEE([]byte(p.Name)), Rev: 1}
	if len(p.Owners) == 0 {
		row.Nobody = sources.Stamp{At: p.At, How: sources.Seen}
		return row
	}
	row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: p.Owners[0].ID, Label: p.Owners[0].Label}, Start: p.Owners[0].Since}}
	return row
}

// Led is an election read at that time, led for a minute with a lease of 15 s.
func Led(name, owner string, at time.Time) *sources.Primitive {
	o := sources.Owner{ID: owner, Label: owner, Lease: 15 * time.Second,
		Since: sources.Stamp{At: at.Add(-time.Minute), How: sources.Seen}, Expires: sources.Stamp{At: at.Add(15 * time.Second), How: sources.Told}}
	return &sources.Primitive{Ref: sources.Ref{Source: Redis, Space: "0", Name: name}, Kind: sources.KindElection,
		Limit: 1, Taken: 1, LimitHow: sources.Told, OwnersHow: sources.Told, Owners: []sources.Owner{o}, At: at}
}

// Leaderless is an election that should always have a leader and has had none since at.
func Leaderless(name string, at time.Time) *sources.Primitive {
	p := Led(name, "", at)
	p.Owners, p.Taken, p.Expected = nil, 0, true
	return p
}

// Many returns n elections with names in order, led by 97 programs.
func Many(n int, at time.Time) []*sources.Primitive {
	prims := make([]*sources.Primitive, n)
	for i := range prims {
		prims[i] = Led(fmt.Sprintf("app:leader:shard-%06d", i), fmt.Sprintf("host-%02d:4411", i%97), at)
	}
	return prims
}

// Three are elections with a leader each.
func Three() (a, b, c *sources.Primitive) {
	return Led("a", "host-1", Noon()), Led("b", "host-2", Noon()), Led("c", "host-3", Noon())
}

// Lost is an election whose leader went away a minute before noon.
func Lost(name string) *sources.Primitive { return Leaderless(name, Noon().Add(-time.Minute)) }
