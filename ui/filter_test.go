package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// four are rows that differ in all that a filter can ask for.
func four() *driver {
	lock := uitest.Led("orders/reconcile", "host-11:1", noon())
	lock.Kind, lock.Labels = sources.KindMutex, []sources.Attr{{Key: "env", Value: "prod"}}
	lock.Queue = sources.Queue{How: sources.Told, Len: 1, At: noon(), Waiters: []sources.Waiter{
		{ID: "w", Label: "host-15:1", Since: sources.Stamp{At: noon().Add(-41 * time.Second), How: sources.Told}}}}
	endless := uitest.Led("orders/outbox", "host-12:1", noon())
	endless.Owners[0].NoExpiry, endless.Owners[0].Expires, endless.Owners[0].Lease = true, sources.Stamp{}, 0
	dark := uitest.Led("worker", "", noon())
	dark.Owners, dark.Taken, dark.OwnersHow, dark.Kind, dark.Queue = nil, 0, sources.Unknown, sources.KindUnknown, sources.Queue{}
	st := uitest.State(noon(), lock, endless, dark, lost("search"))
	led := st.Rows[3]
	led.Terms = []sources.Term{{Start: sources.Stamp{At: led.Nobody.At.Add(-time.Hour), How: sources.Seen}, End: led.Nobody}}
	d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
	d.press("s", "n") // by name
	return d
}

func TestFilterAsksForFieldsOfRows(t *testing.T) {
	t.Parallel()
	outbox, reconcile, search, worker := "orders/outbox", "orders/reconcile", "search", "worker"
	for typed, want := range map[string][]string{
		"orders !reconcile":            {outbox},
		"kind=mutex wait>30s":          {reconcile},
		"source=leases and chg<2":      {outbox, reconcile, search, worker},
		"owner~host-1[0-3]":            {outbox, reconcile},
		"since<2m or state=no-leader":  {outbox, reconcile, search},
		"env=prod":                     {reconcile},
		"env=?":                        {outbox, search, worker},
		"owner=?":                      {worker},
		"lease>10s":                    {outbox, reconcile},
		"lease>1h":                     {outbox},
		"lease=?":                      {search, worker},
		"wait>0":                       {reconcile},
		"wait=?":                       {outbox, search, worker},
		"gap>30s":                      {search},
		"state=led":                    {outbox},
		"name~^orders/ !owner=host-9":  {outbox, reconcile},
		"owner=host-11:1 or owner~12:": {outbox, reconcile},
	} {
		d := four()
		d.press("/")
		d.typed(typed)
		if got := d.names(); !slices.Equal(got, want) {
			t.Errorf("%s shows %q", typed, got)
		}
	}
}

func TestFilterWithAMistakeKeepsWhatItSelectedAndSaysWhy(t *testing.T) {
	t.Parallel()
	d := four()
	d.press("/")
	d.typed("owner~host-12[")
	if got := d.names(); !slices.Equal(got, []string{"orders/outbox"}) {
		t.Errorf("it shows %q", got)
	}
	d.shows(t, "missing closing ]")
	d.shows(t, "1 of 4")
	d.press("ctrl+u")
	d.typed("orders kind=")
	if got := d.names(); len(got) != 2 {
		t.Errorf("it shows %q", got)
	}
	d.shows(t, "kind= what?")
	d.shows(t, "2 of 4")
}

func TestTabCompletesFieldsAndValuesThatExist(t *testing.T) {
	t.Parallel()
	d := four()
	d.press("/")
	for _, step := range []struct{ typed, want string }{
		{"k", "kind="}, {"", "kind=election"}, {"", "kind=mutex"}, {" env=", "kind=mutex env=prod"}, {" owner=host-1", "kind=mutex env=prod owner=host-11:1"},
	} {
		d.typed(step.typed)
		d.press("tab")
		if got := d.rowList.filtering.typed(); got != step.want {
			t.Fatalf("%q became %q, not %q", step.typed, got, step.want)
		}
	}
	d.shows(t, "host-12:1") // the next one
	if got := d.names(); !slices.Equal(got, []string{"orders/reconcile"}) {
		t.Errorf("it shows %q", got)
	}
}

func TestFilterThatAsksForTimeIsAskedAgainAsTimePasses(t *testing.T) {
	t.Parallel()
	d := hand(uitest.Led("a", "o", noon()))
	d.press("/")
	d.typed("since<65s")
	if len(d.names()) != 1 {
		t.Fatal("the row is not there")
	}
	d.pass(6)
	if len(d.names()) != 0 {
		t.Error("the row is still there")
	}
}

func TestEventsPassTheFilterByThemselvesOrByTheirRow(t *testing.T) {
	t.Parallel()
	d := four()
	d.feed.Tell(
		sources.Event{Kind: sources.EventReleased, At: noon(), Ref: sources.Ref{Source: uitest.Redis, Space: "0", Name: "orders/reconcile"}, Previous: sources.OwnerRef{Label: "host-99"}},
		sources.Event{Kind: sources.EventReleased, At: noon(), Ref: sources.Ref{Source: uitest.Redis, Space: "0", Name: "gone"}, Previous: sources.OwnerRef{Label: "host-98"}})
	d.send(terminal.WakeMsg{})
	d.press("tab", "/")
	for typed, want := range map[string]int{"host-99": 1, "wait>30s": 1, "env=prod": 1, "owner=host-98": 1, "name=gone": 1, "kind=election": 0, "": 2} {
		d.press("ctrl+u")
		d.typed(typed)
		n := 0
		for i := range d.Events.List {
			if d.Rows.Filter.PassesEvent(&d.Events.List[i]) {
				n++
			}
		}
		if n != want {
			t.Errorf("%q: %d events", typed, n)
		}
	}
}

func TestWaitWithoutAUnitThatSelectsNothingIsExplained(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	for text, explained := range map[string]bool{"wait>30": true, "a or !(wait>30 kind=mutex)": false, "zzz wait>30": true, "wait>30s": false, "zzz": false} {
		d := hand(a, b)
		d.press("/")
		d.typed(text)
		if got := strings.Contains(d.text(), "wait>30s is about how long they wait"); got != explained {
			t.Errorf("%s: explained is %v:\n%s", text, got, d.text())
		}
	}
}

func TestAFilterThatSelectsNothingAsksWhatWasMeant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"kind:election": "did you mean kind=election?", "status:led": "did you mean state=led?", "status=led": "did you mean state?",
	} {
		d := four()
		d.press("/")
		d.typed(text)
		d.shows(t, want)
		d.press("enter")
		d.shows(t, want)
		d.press("!")
		d.shows(t, "no problems")
		d.shows(t, want)
	}
	d := four()
	d.press(":")
	d.typed("filter kind:semaphore")
	d.press("enter")
	d.shows(t, "the filter selects nothing: did you mean kind=semaphore?")
	d = four()
	d.press("/")
	d.typed("zzzzzz")
	d.showsNot(t, "did you mean")
}

func TestAliasesAreNamesInFiltersAndCompletion(t *testing.T) {
	t.Parallel()
	numbered := uitest.Led("72707369", "host-1", noon())
	numbered.Alias = "Prisma Migrate"
	d := hand(numbered, lost("search"))
	d.feed.Tell(sources.Event{Seq: 1, Kind: sources.EventReleased, Ref: sources.Ref{Source: "leases", Name: "99"}, Alias: "nightly compactor", At: noon(),
		How: sources.Told, Previous: sources.OwnerRef{ID: "a", Label: "gone-1"}})
	d.show(d.feed.State())
	for _, typed := range []string{"prisma", "name~prisma"} {
		d.press("/")
		d.typed(typed)
		d.press("enter")
		if got := d.names(); len(got) != 1 || got[0] != "72707369" {
			t.Errorf("%s selects %q", typed, got)
		}
		d.press("esc")
	}
	d.press("5", "/")
	d.typed("compactor")
	d.shows(t, "gone-1")
	if got := d.rowList.namesLike("Prisma"); !slices.Equal(got, []string{"Prisma Migrate"}) {
		t.Errorf("completed with %q", got)
	}
}

// What a filter hides is hidden without a word where it is not said: it stands in the header at
// every width from 80 cells on, beside every word of the order.
func TestTheHeaderNeverLeavesOutTheFilter(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d := hand(a, b)
	d.command("filter owner=host")
	for _, sort := range []string{"name", "problems", "wait"} {
		d.command("sort " + sort)
		for w := 80; w <= 170; w++ {
			d.send(tea.WindowSizeMsg{Width: w, Height: 24})
			if !strings.Contains(d.text(), "filter owner=") {
				t.Fatalf("sorted by %s, %d cells: %s", sort, w, strings.Join(d.lines()[:2], "\n"))
			}
		}
	}
}
