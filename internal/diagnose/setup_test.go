package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

// ago is a stamp of something that was seen so long before noon.
func ago(d time.Duration) sources.Stamp {
	return sources.Stamp{At: uitest.Noon().Add(-d), How: sources.Seen}
}

// of gives a primitive to a source of another name; its type is the name up to a dash.
func of(source string, p *sources.Primitive) *sources.Primitive {
	p.Source = source
	return p
}

// state is a State at noon of these rows. Each source of theirs is live, and has one scope.
func state(rows ...*sources.Row) *sources.State {
	st := uitest.State(uitest.Noon())
	st.Sources, st.Scopes = nil, nil
	for slot, r := range rows {
		r.Slot = slot
		if r.Scope = slices.IndexFunc(st.Scopes, func(c sources.Scope) bool { return c.Source == r.Source }); r.Scope < 0 {
			r.Scope = len(st.Scopes)
			kind, _, _ := strings.Cut(r.Source, "-")
			st.Scopes = append(st.Scopes, sources.Scope{Source: r.Source, Health: sources.HealthLive, Synced: true, Alive: uitest.Noon()})
			st.Sources = append(st.Sources, sources.SourceStatus{Name: r.Source, Type: kind, Health: sources.HealthLive})
		}
		st.Rows = append(st.Rows, r)
	}
	return st
}

// led is an election of a Redis that is led.
func led(name, owner string) *sources.Row {
	return uitest.Row(of("redis", uitest.Led(name, owner, uitest.Noon())), 0)
}

// lost is an election of a Redis that nobody leads.
func lost(name, owner string, end time.Duration, cause sources.Cause, how sources.Known) *sources.Row {
	return lostOn("redis", name, owner, end, cause, how)
}

func lostOn(source, name, owner string, end time.Duration, cause sources.Cause, how sources.Known) *sources.Row {
	r := uitest.Row(of(source, uitest.Leaderless(name, uitest.Noon().Add(-end))), 0)
	r.Nobody = ago(end)
	if owner != "" {
		r.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: owner, Label: owner}, Start: ago(end + time.Hour/2), End: ago(end), Cause: cause, How: how}}
	}
	return r
}

// owned is a mutex of a session, for which nobody waits yet.
func owned(source, name, owner string) *sources.Row {
	p := of(source, uitest.Led(name, owner, uitest.Noon()))
	p.Kind, p.Queue.How = sources.KindMutex, sources.Told
	o := &p.Owners[0]
	o.Session, o.NoExpiry, o.Expires, o.Lease, o.Since = "s-"+owner, true, sources.Stamp{}, 0, ago(time.Hour)
	return uitest.Row(p, 0)
}

// queued adds somebody who has waited for a minute.
func queued(r *sources.Row, name string) *sources.Row { return queuedFor(r, name, time.Minute, 1) }

func queuedFor(r *sources.Row, name string, waited time.Duration, permits uint64) *sources.Row {
	r.Queue.Len++
	r.Queue.Waiters = append(r.Queue.Waiters, sources.Waiter{ID: name, Session: "s-" + name, Label: name, Since: ago(waited), Permits: permits})
	return r
}

// semaphore is one of ten permits; each owner has the number behind its name.
func semaphore(name string, owners map[string]uint64) *sources.Row {
	r := owned("ydb", name, "")
	r.Kind, r.Limit, r.Owners, r.Taken, r.Terms = sources.KindSemaphore, 10, nil, 0, nil
	for owner, n := range owners {
		r.Owners = append(r.Owners, sources.Owner{ID: owner, Session: "s-" + owner, Label: owner, Permits: n, Since: ago(time.Hour), NoExpiry: true})
		r.Taken += n
	}
	return r
}

func with(r *sources.Row, change func(*sources.Row)) *sources.Row {
	change(r)
	return r
}

// input asks about all rows of a State.
func input(st *sources.State) *Input {
	j := &verdict.Judge{State: st, Names: sources.Names{}}
	for slot, r := range st.Rows {
		j.Names.Add(r.Name, slot)
	}
	return &Input{Judge: j, Rows: ProblemRows(j, uitest.Noon()), Now: uitest.Noon(), Name: func(ref sources.Ref) string { return ref.Name }}
}

// text is a finding as a person reads it, with its pattern and the names of its rows in front: "owner-gone a b".
func text(f *Finding) string {
	head := []string{f.Pattern.String()}
	for i := range f.Rows {
		head = append(head, f.Rows[i].Name)
	}
	lines := []string{strings.Join(head, " "), f.Title, f.Cause(), f.Effect}
	for _, s := range f.Steps {
		lines = append(lines, s.Text+" ["+string(s.Place)+"] "+s.Command)
	}
	return strings.Join(lines, "\n")
}

// complete reports rows with a problem that are in no finding, or in two.
func complete(t *testing.T, in *Input, found []Finding) {
	t.Helper()
	times := map[sources.Ref]int{}
	for i := range found {
		if len(found[i].Reasons) == 0 || found[i].Title == "" {
			t.Errorf("it says nothing: %s", text(&found[i]))
		}
		for j := range found[i].Rows {
			times[found[i].Rows[j].Ref]++
		}
	}
	for _, r := range in.Rows {
		v, _ := in.Judge.Weigh(r, in.Now)
		if n := times[r.Ref]; n != 1 && v.Status != sources.StatusStale {
			t.Errorf("%v is in %d findings", r.Ref, n)
		}
	}
}
