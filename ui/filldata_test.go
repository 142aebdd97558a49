package ui

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// quota is a row of a semaphore, or of one that is not there.
func quota(absent bool, data string) *sources.Primitive {
	p := &sources.Primitive{
		Ref: sources.Ref{Source: "jobs", Space: "/local/app", Name: "quota"}, Kind: sources.KindSemaphore, LimitHow: sources.Told,
		OwnersHow: sources.Told, Absent: absent, At: noon(), Limit: 7, Data: sources.Blob{Head: data, Len: len(data), Sum: uint64(len(data))},
	}
	if absent {
		p.Limit, p.Note = 0, "there is no semaphore of this name"
	}
	return p
}

// provisioning opens the box of a verb for p.
func provisioning(t *testing.T, p *sources.Primitive, v action.Verb, k string, e action.Effect) (*driver, *testOperator) {
	t.Helper()
	d, op := armed(p)
	op.Effect = e
	op.Offer = []action.Choice{{Verb: v}, {Verb: action.Acquire, Not: "no"}, {Verb: action.CreateNode, Not: "/local/app exists"}}
	op.Change(func(s *action.Status) { s.Always = true })
	d.send(terminal.WakeMsg{})
	d.act("a")
	d.showsNot(t, "/local/app exists")
	d.act(k)
	return d, op
}

func TestASemaphoreIsCreatedWithItsLimitAndData(t *testing.T) {
	t.Parallel()
	e := effect()
	e.TakesLimit, e.TakesData, e.DataMax = true, true, 100
	d, op := provisioning(t, quota(true, ""), action.Create, "n", e)
	for _, want := range []string{"Create quota in jobs", "limit", "data"} {
		d.shows(t, want)
	}
	d.press("shift+tab", "shift+tab", "shift+tab") // reason, data, limit
	d.typed("0")
	d.shows(t, "limit is a number from 1")
	d.press("backspace")
	d.typed("12")
	d.press("tab")
	d.typed("hello")
	d.press("tab", "tab", "tab", "enter")
	got := op.Begun()
	if len(got) != 1 || got[0].Verb != action.Create || got[0].Limit != 12 || string(got[0].Data) != "hello" || got[0].Target.Ref.Name != "quota" {
		t.Errorf("begun %+v", got)
	}
}

func TestAnUpdateBeginsWithTheDataThatIsThere(t *testing.T) {
	t.Parallel()
	e := effect()
	e.TakesData, e.DataMax = true, 10_000
	p := quota(false, "old text")
	d, op := provisioning(t, p, action.Update, "u", e)
	d.shows(t, "Update the data of quota")
	d.shows(t, "old text")
	d.press("tab", "enter")
	if got := op.Begun(); len(got) != 1 || string(got[0].Data) != "old text" {
		t.Errorf("begun %+v", got)
	}

	long := quota(false, strings.Repeat("x", sources.BlobHead))
	long.Data.Len++
	d, _ = provisioning(t, long, action.Update, "u", e)
	d.shows(t, "too many to be edited here")
	d.showsNot(t, "xxx")
}

func TestAnUpdateOfDataWithASecretDoesNotBeginWithTheMask(t *testing.T) {
	t.Parallel()
	e := effect()
	e.TakesData, e.DataMax = true, 10_000
	p := quota(false, "")
	const text = "url=postgres://u:TOPSECRET99@h/d"
	p.Data = sources.NewBlob([]byte(text), len(text))
	d, op := provisioning(t, p, action.Update, "u", e)
	d.shows(t, "it holds a secret, which is not shown: all of it is replaced")
	d.typed("new")
	d.press("tab", "enter")
	for _, r := range op.Begun() {
		if strings.Contains(string(r.Data), "***") {
			t.Errorf("%q would be written", r.Data)
		}
	}
	if len(op.Begun()) != 1 {
		t.Errorf("begun %+v", op.Begun())
	}
}

func TestABoxAboutWhatExistsSaysWhatOthersDidMeanwhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verb   action.Verb
		key    string
		before *sources.Primitive
		after  *sources.Primitive
		says   string
	}{
		{verb: action.Update, key: "u", before: quota(false, "old"), after: quota(false, "newer"), says: "its data was another when you decided"},
		{verb: action.Update, key: "u", before: quota(false, "old"), after: quota(true, ""), says: "it existed when you decided, now it does not"},
		{verb: action.Create, key: "n", before: quota(true, ""), after: quota(false, ""), says: "it did not exist when you decided, now it does"},
		{verb: action.Delete, key: "d", before: quota(false, ""), after: taken(quota(false, "")), says: "nobody owned it when you decided, now host-9 does"},
		{verb: action.Update, key: "u", before: quota(false, "old"), after: taken(quota(false, "old"))},
	} {
		d, op := provisioning(t, c.before, c.verb, c.key, effect())
		d.feed.Set(uitest.State(noon().Add(time.Second), c.after))
		d.send(terminal.WakeMsg{})
		if c.says == "" {
			d.showsNot(t, "nothing will be sent")
			continue
		}
		d.says(t, "changed: "+c.says+"; nothing will be sent")
		d.press("tab", "enter")
		if len(op.Begun()) > 0 {
			t.Errorf("%v: begun although %s", c.verb, c.says)
		}
	}
}

// taken gives a row an owner.
func taken(p *sources.Primitive) *sources.Primitive {
	p.Owners = []sources.Owner{{ID: "9", Label: "host-9", Permits: 1}}
	return p
}
