package rows

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

// agreeing returns a state with two sources that share the lock of a name, and one that does not.
func agreeing(now time.Time) *sources.State {
	st := uitest.State(now)
	st.Sources, st.Scopes = nil, nil
	for i, name := range []string{"a", "b", "c"} {
		st.Sources = append(st.Sources, sources.SourceStatus{Name: name, Type: "redis", Health: sources.HealthLive, Agree: []int{1, 1, 0}[i]})
		st.Scopes = append(st.Scopes, sources.Scope{Source: name, Health: sources.HealthLive, Synced: true, Alive: now})
	}
	return st
}

// ownedAt returns a row of a scope with an owner; "": none.
func ownedAt(st *sources.State, scope, slot int, gen uint32, name, owner string) *sources.Row {
	p := uitest.Led(name, owner, st.At)
	if p.Kind, p.Source = sources.KindMutex, st.Sources[scope].Name; owner == "" {
		p.Owners = nil
	}
	row := uitest.Row(p, slot)
	row.Scope, row.Gen = scope, gen
	return row
}

func TestBothRowsOfALockThatTwoOwnAreProblemsAsLongAsTheyDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const slots = 6
		now := uitest.Noon()
		var x Index
		rows := make([]*sources.Row, slots)
		var gen uint32
		for range rapid.IntRange(1, 20).Draw(t, "states") {
			st := agreeing(now)
			for range rapid.IntRange(1, 3).Draw(t, "changes") {
				slot, scope := rapid.IntRange(0, slots-1).Draw(t, "slot"), rapid.IntRange(0, 2).Draw(t, "scope")
				name, owner := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name"), rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "owner")
				switch old := rows[slot]; {
				case old == nil:
					gen++
					rows[slot] = ownedAt(st, scope, slot, gen, name, owner)
				case rapid.Bool().Draw(t, "goes"):
					rows[slot] = nil
				default:
					rows[slot] = ownedAt(st, old.Scope, slot, old.Gen, old.Name, owner)
				}
			}
			st.Rows = append([]*sources.Row(nil), rows...)
			x.Update(st, now)
			var fresh Index
			fresh.Update(st, now)
			if x.ByFault != fresh.ByFault || x.BySeverity != fresh.BySeverity {
				t.Fatalf("%v, from nothing %v", x.ByFault, fresh.ByFault)
			}
			for _, row := range rows {
				if row == nil {
					continue
				}
				want := false
				for _, other := range rows {
					want = want || other != nil && row.Scope < 2 && other.Scope < 2 && other.Source != row.Source && other.Name == row.Name &&
						len(row.Owners) > 0 && len(other.Owners) > 0 && row.Owners[0].ID != other.Owners[0].ID
				}
				if _, v := x.At(HandleOf(row)); v.Faults.Has(verdict.TwoOwners) != want {
					t.Fatalf("%+v: two owners %v, want %v", row.Ref, !want, want)
				}
			}
		}
	})
}

func BenchmarkUpdateOf100000RowsThatAgree(b *testing.B) {
	for name, agree := range map[string]int{"agree": 1, "alone": 0} {
		b.Run(name, func(b *testing.B) {
			const rows = 100_000
			now := uitest.Noon()
			var x Index
			st := agreeing(now)
			st.Sources[0].Agree, st.Sources[1].Agree = agree, agree
			for i := range rows {
				st.Rows = append(st.Rows, ownedAt(st, i%2, i, 1, "app:leader:"+strconv.Itoa(i/2), "host-1"))
			}
			x.Update(st, now)
			for i := 0; b.Loop(); i++ {
				next := *st
				next.Rows = append([]*sources.Row(nil), st.Rows...)
				for j := range 1000 {
					slot := (i*1000 + j) % rows
					row := *next.Rows[slot]
					next.Rows[slot] = &row
				}
				x.Update(&next, now)
				st = &next
			}
		})
	}
}
