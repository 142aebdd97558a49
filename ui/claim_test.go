package ui

import (
	"testing"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/uitest"
)

func TestARowIsTakenByItsName(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	twin := *b
	twin.Ref.Space = "1"
	d, op := armed(a, b, &twin)
	op.Offer = []action.Choice{{Verb: action.Campaign}, {Verb: action.Acquire, Not: "an election is led"}}
	for text, want := range map[string]string{
		"campaign":       "which one? write its name",
		"campaign c":     "there is no row c",
		"campaign b":     "2 rows have that name; write leases/" + b.Space + "/b or leases/1/b",
		"acquire a":      "not possible: an election is led",
		"campaign ses/a": "there is no row ses/a",
	} {
		d.command(text)
		d.shows(t, want)
		if d.acting.Open() {
			t.Fatalf("%s opened a box", text)
		}
	}
	for name, ref := range map[string]sources.Ref{"a": a.Ref, "leases/a": a.Ref, "leases/1/b": twin.Ref} {
		d.press(":")
		d.typed("campaign " + name)
		d.act("enter", "tab", "enter")
		got := op.Begun()
		if len(got) == 0 || got[len(got)-1].Target.Ref != ref || got[len(got)-1].Verb != action.Campaign {
			t.Errorf("%s: begun %+v", name, got)
		}
	}
	d.disarm(op)
	d.command("campaign a")
	d.shows(t, "writing is off: W makes it possible")
	e := drive(newTestFeed(uitest.State(noon(), a)), Options{})
	e.command("campaign a")
	e.shows(t, screen.ReadOnlyText)
	e.press(":")
	e.typed("acquire ")
	e.press("tab")
	if got := e.line.input.Value(); got != "acquire a" {
		t.Errorf("completed to %q", got)
	}
}

func TestAnAliasIsTakenAsANameAndANearOneAskedFor(t *testing.T) {
	t.Parallel()
	p, q := uitest.Led("4242:17", "host", noon()), uitest.Led("compactor", "host", noon())
	p.Alias, q.Alias = "ledger/compactor", "other"
	r := uitest.Led("other", "host", noon()) // whose name is another's alias
	d, op := armed(p, q, r)
	op.Offer = []action.Choice{{Verb: action.Campaign}}
	for name, ref := range map[string]sources.Ref{"ledger/compactor": p.Ref, "leases/ledger/compactor": p.Ref, "other": r.Ref, "compactor": q.Ref} {
		d.press(":")
		d.typed("campaign " + name)
		d.act("enter", "tab", "enter")
		got := op.Begun()
		if len(got) == 0 || got[len(got)-1].Target.Ref != ref {
			t.Errorf("%s: begun %+v, want %v", name, got, ref)
		}
	}
	for text, want := range map[string]string{
		"campaign ledgre/compactor": "did you mean ledger/compactor?", "campaign compacter": "did you mean compactor?",
		"campaign leases/compacter": "did you mean leases/compactor?", "campaign somewhere": "looks for parts of names", "campaign x": "looks for parts of names",
	} {
		d.command(text)
		d.shows(t, want)
		if d.acting.Open() {
			t.Fatalf("%s opened a box", text)
		}
	}
}
