package sources

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// replay is an empty model to which events are applied.
type replay map[Ref]map[OwnerRef]bool

func (m replay) apply(t *rapid.T, e Event, hidden map[Ref]bool) {
	owners := m[e.Ref]
	if e.Kind == EventOwnerUnknown {
		hidden[e.Ref] = true
	}
	if owners == nil {
		owners = map[OwnerRef]bool{}
		m[e.Ref] = owners
	}
	if e.Kind.EndsOwner() {
		if !owners[e.Previous] {
			t.Fatalf("%+v ends what is not owned", e)
		}
		delete(owners, e.Previous)
	}
	if e.Kind.BeginsOwner() && e.Owner != (OwnerRef{}) {
		if owners[e.Owner] && !(e.Kind == EventPresent && hidden[e.Ref]) {
			t.Fatalf("%+v begins what is owned already", e)
		}
		owners[e.Owner] = true
	}
	if e.Kind == EventRenewed && !owners[e.Owner] {
		t.Fatalf("%+v renews what is not owned", e)
	}
}

// machine drives a Hub with random Changes of one source with two scopes.
type machine struct {
	hub    *Hub
	feed   *hubSource
	start  time.Time
	clock  time.Time
	passed atomic.Int64 // from start to clock
	fence  uint64
	told   [2]map[string]*Primitive // what the source told last, by scope
	listed [2]bool

	prompt, lazy *Subscription
	model        replay
	hidden       map[Ref]bool // whose owners could not be told once
	last         uint64       // seq read by prompt
	read, missed uint64       // by lazy
}

func newMachine(ctx context.Context, events int) *machine {
	return newMachineOf(ctx, HubOptions{Events: events})
}

func newMachineOf(ctx context.Context, o HubOptions) *machine {
	m := &machine{start: Wall(), told: [2]map[string]*Primitive{{}, {}}, model: replay{}, hidden: map[Ref]bool{}}
	if k := o.Resume; k != nil {
		m.goOn(k)
	}
	m.clock, o.Clock = m.start, machineClock{m}
	m.hub = NewHub(ctx, o)
	m.prompt, m.lazy = m.hub.Subscribe(0), m.hub.Subscribe(0)
	feeds, err := m.hub.add([]Spec{{Name: "s", Silence: 1000 * time.Hour}})
	if err != nil {
		panic(err)
	}
	m.feed = feeds[0]
	return m
}

// goOn makes the machine begin after the end of an earlier run, whose last State the Hub goes on with.
func (m *machine) goOn(k *Keyframe) {
	m.start = k.At.Wall.Add(time.Second)
	for slot, row := range k.Rows {
		if row == nil {
			continue
		}
		p := row.Primitive
		if base := k.Known[slot]; base != nil {
			p = base
		}
		m.hidden[row.Ref] = row.Primitive.OwnersHow == Unknown
		m.model[row.Ref] = map[OwnerRef]bool{}
		for i := range p.Owners {
			m.model[row.Ref][p.Owners[i].ref()] = true
		}
		for scope, name := range scopeNames {
			if rest, in := strings.CutPrefix(row.Name, name); in {
				m.told[scope][rest] = p
			}
		}
	}
}

// machineClock is the clock of a machine, for its Hub.
type machineClock struct{ *machine }

func (c machineClock) Now() Instant {
	passed := time.Duration(c.passed.Load())
	return Instant{Wall: c.start.Add(passed), Mono: passed}
}

var scopeNames = [2]string{"one", "two"}

// draw makes a primitive as it may be found now: after what was told last, renewed, with
// another owner, with several or none, or unreadable.
func (m *machine) draw(t *rapid.T, scope int, name string) *Primitive {
	p := &Primitive{Ref: Ref{Source: "s", Name: scopeNames[scope] + name}, Kind: KindElection, OwnersHow: Told, At: m.clock, ForgetAfter: time.Hour}
	if name >= "c" {
		semaphore(p)
	}
	old := m.told[scope][name]
	what := rapid.SampledFrom([]string{"same", "other", "other", "nobody", "two", "one left", "unknown", "renewed"}).Draw(t, "what")
	switch {
	case what == "unknown":
		p.OwnersHow = Unknown
	case what == "nobody":
	case old != nil && what == "one left":
		p.Owners = slices.Clone(old.Owners[min(1, len(old.Owners)):])
	case old != nil && (what == "same" || what == "renewed"):
		p.Owners = slices.Clone(old.Owners)
		for i := range p.Owners {
			if what == "renewed" {
				p.Owners[i].Expires.At = m.clock.Add(15 * time.Second)
			}
		}
	default:
		p.Owners = append(p.Owners, m.drawOwner(t))
		if what == "two" {
			p.Owners = append(p.Owners, m.drawOwner(t))
		}
	}
	return p
}

func (m *machine) drawOwner(t *rapid.T) Owner {
	m.fence++
	id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")
	o := Owner{ID: id, Label: id, Fence: m.fence}
	if rapid.Bool().Draw(t, "leased") {
		o.Expires = Stamp{At: m.clock.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "lease")) * time.Second), How: Told}
	}
	return o
}

// change passes a Change to the Hub some time after the last one.
func (m *machine) change(t *rapid.T, scope int, c Change) {
	then := m.clock
	m.clock = m.clock.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond)
	m.passed.Store(int64(m.clock.Sub(m.start)))
	for _, p := range c.Set {
		if !p.At.IsZero() {
			p.At = m.clock
		}
		if name := p.Name[len(scopeNames[scope]):]; ownersKnown(p) || m.told[scope][name] == nil {
			m.told[scope][name] = p
		}
	}
	c.Scope, c.At, c.Alive = scopeNames[scope], m.clock, []string{scopeNames[scope]}
	if rapid.Bool().Draw(t, "polled") {
		c.After = then
	}
	m.hub.apply(m.feed, c)
}

func (m *machine) actions() map[string]func(*rapid.T) {
	scope := rapid.IntRange(0, 1)
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID)
	return map[string]func(*rapid.T){
		"look": func(t *rapid.T) {
			s := scope.Draw(t, "scope")
			if !m.listed[s] {
				t.Skip("not listed yet")
			}
			var set []*Primitive
			for _, name := range names.Draw(t, "names") {
				set = append(set, m.draw(t, s, name))
			}
			m.change(t, s, Change{Set: set})
		},
		"list anew": func(t *rapid.T) {
			s := scope.Draw(t, "scope")
			var first, rest []*Primitive
			for i, name := range names.Draw(t, "names") {
				if p := m.draw(t, s, name); i%2 == 0 {
					first = append(first, p)
				} else {
					rest = append(rest, p)
				}
			}
			m.change(t, s, Change{Relists: true, Set: first})
			m.change(t, s, Change{Set: rest, Synced: true})
			m.listed[s] = true
		},
		"vanish": func(t *rapid.T) {
			s := scope.Draw(t, "scope")
			name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
			delete(m.told[s], name)
			m.change(t, s, Change{Gone: []Ref{{Source: "s", Name: scopeNames[s] + name}}})
		},
		"disconnect": func(*rapid.T) {
			m.hub.disconnected(m.feed, errors.New("reset"), time.Time{})
			m.listed = [2]bool{}
		},
		"read lazily": func(t *rapid.T) {
			events, missed := m.lazy.Events(rapid.IntRange(0, 5).Draw(t, "max"))
			m.read, m.missed = m.read+uint64(len(events)), m.missed+missed
		},
		"": m.check,
	}
}

// check holds the Hub against its promises after every step.
func (m *machine) check(t *rapid.T) {
	events, missed := m.prompt.Events(0)
	if missed != 0 {
		t.Fatalf("%d events are missed by a subscriber that reads each", missed)
	}
	for _, e := range events {
		if e.Seq != m.last+1 {
			t.Fatalf("event %d follows event %d", e.Seq, m.last)
		}
		m.last = e.Seq
		m.model.apply(t, e, m.hidden)
	}
	m.hub.mu.Lock()
	m.hub.publishLocked(m.hub.clock.Now())
	m.hub.mu.Unlock()
	state := m.hub.State()
	if state.LastSeq != m.last {
		t.Fatalf("the state ends with event %d, the subscriber with %d", state.LastSeq, m.last)
	}
	owned := replay{}
	for slot, row := range state.Rows {
		if row == nil {
			continue
		}
		if found := m.hub.Row(state, row.Ref); found != row || row.Slot != slot {
			t.Fatalf("row %v is in slot %d, and found is %v", row.Ref, slot, found)
		}
		p := row.Primitive
		if base := m.hub.model.known[slot]; base != nil {
			p = base
		}
		for i := range p.Owners {
			if owned[row.Ref] == nil {
				owned[row.Ref] = map[OwnerRef]bool{}
			}
			owned[row.Ref][p.Owners[i].ref()] = true
		}
		checkTerms(t, row)
	}
	maps.DeleteFunc(m.model, func(_ Ref, owners map[OwnerRef]bool) bool { return len(owners) == 0 })
	if fmt.Sprint(m.model) != fmt.Sprint(owned) {
		t.Fatalf("the events tell\n%v\nthe state shows\n%v", m.model, owned)
	}
}

// checkTerms holds a row's history against what its type promises.
func checkTerms(t *rapid.T, row *Row) {
	if !single(row.Primitive) {
		if len(row.Terms) > 0 {
			t.Fatalf("%v is shared and has terms", row.Ref)
		}
		checkOwnerTerms(t, row)
		return
	}
	for i, term := range row.Terms {
		running := term.End.How == Unknown
		switch {
		case running && i < len(row.Terms)-1:
			t.Fatalf("term %d of %v runs and is not the last", i, row.Ref)
		case !running && term.End.At.Before(term.Start.At):
			t.Fatalf("term %+v ends before it starts", term)
		}
		if i == 0 {
			continue
		}
		last := row.Terms[i-1]
		if term.Start.At.Before(last.End.At) || term.Start.Earliest().Before(last.End.Earliest()) {
			t.Fatalf("terms overlap:\n%+v\n%+v", last, term)
		}
		if (last.Hue == term.Hue) != last.SameProgram(term.Owner, term.Program) {
			t.Fatalf("hues do not tell owners apart:\n%+v\n%+v", last, term)
		}
	}
	running := (&terms{list: row.Terms}).running()
	switch {
	case !ownersKnown(row.Primitive):
	case len(row.Owners) == 0 && running != nil:
		t.Fatalf("nobody owns %v and term %+v runs", row.Ref, *running)
	case len(row.Owners) > 0 && (running == nil || !slices.ContainsFunc(row.Owners, func(o Owner) bool { return o.ref() == running.Owner })):
		t.Fatalf("%v is owned by %+v, running is %+v", row.Ref, row.Owners, running)
	case len(row.Owners) == 0 && row.Nobody.How == Unknown:
		t.Fatalf("nobody owns %v, and it is not known since when", row.Ref)
	}
}

// checkOwnerTerms holds the terms of a shared row's owners against who owns it.
func checkOwnerTerms(t *rapid.T, row *Row) {
	running := map[OwnerRef]bool{}
	for _, term := range row.OwnerTerms() {
		switch {
		case term.End.How == Unknown:
			running[term.Owner] = true
		case term.End.At.Before(term.Start.At):
			t.Fatalf("term %+v ends before it starts", term)
		}
	}
	owners := map[OwnerRef]bool{}
	for i := range row.Owners {
		owners[row.Owners[i].ref()] = true
	}
	if ownersKnown(row.Primitive) && read(row.Primitive) && !maps.Equal(running, owners) {
		t.Fatalf("%v is owned by %v, and the terms of %v run", row.Ref, owners, running)
	}
}

func TestEventsAndStateTellTheSameStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t.Context(), 0)
		defer m.hub.Close()
		t.Repeat(m.actions())
		events, missed := m.lazy.Events(0)
		if m.missed+missed != 0 || m.read+uint64(len(events)) != m.last {
			t.Fatalf("the lazy subscriber read %d and missed %d of %d", m.read+uint64(len(events)), m.missed+missed, m.last)
		}
	})
}

func TestEverySubscriberReadsEachEventOnceOrIsToldHowManyItMissed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 40).Draw(t, "most")
		r := newRing(most, time.Hour)
		var total uint64
		grow := func(t *rapid.T) {
			events := make([]Event, rapid.IntRange(1, 30).Draw(t, "n"))
			for i := range events {
				events[i].Kind = rapid.SampledFrom([]EventKind{EventRenewed, EventAcquired}).Draw(t, "kind")
			}
			r.append(events)
			total += uint64(len(events))
			if kept := r.changes.len() + r.renewals.len(); kept > most {
				t.Fatalf("%d events are kept, %d at most", kept, most)
			}
		}
		for range rapid.IntRange(0, 3).Draw(t, "earlier") {
			grow(t)
		}
		all, some := r.subscribe(0), r.subscribe(total)
		start, kept := total, uint64(r.changes.len()+r.renewals.len())
		var fromAll, fromSome, last uint64
		t.Repeat(map[string]func(*rapid.T){
			"append": grow,
			"read": func(t *rapid.T) {
				events, missed := some.Events(rapid.IntRange(0, 7).Draw(t, "max"))
				for _, e := range events {
					if e.Seq <= last || e.Seq <= start {
						t.Fatalf("event %d is read after event %d", e.Seq, max(last, start))
					}
					last = e.Seq
				}
				fromSome += uint64(len(events)) + missed
				events, missed = all.Events(rapid.IntRange(0, 7).Draw(t, "max of all"))
				fromAll += uint64(len(events)) + missed
			},
		})
		events, missed := some.Events(0)
		if got := fromSome + uint64(len(events)) + missed; got != total-start {
			t.Fatalf("read and missed: %d of %d", got, total-start)
		}
		events, missed = all.Events(0)
		if got := fromAll + uint64(len(events)) + missed; got != total-start+kept {
			t.Fatalf("read and missed from the beginning: %d of %d", got, total-start+kept)
		}
	})
}
