package operate

import (
	"testing"
	"time"

	"coordtop/sources"
)

func TestARowThatIsOlderThanOurReleaseNamesNobodyAsNext(t *testing.T) {
	t.Parallel()
	sent := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	row := func(read time.Time, owners ...sources.Owner) *sources.Row {
		return &sources.Row{Primitive: &sources.Primitive{At: read, OwnersHow: sources.Told, Owners: owners}}
	}
	x := sources.Owner{ID: "x", Label: "x"}
	d := departure{old: "us", sent: sent}
	if d.update(row(sent.Add(-time.Second), x), nil) || d.gone {
		t.Errorf("%+v: who owned it before us is told as who owns it after us", d)
	}
	if d.update(row(sent.Add(-time.Second)), nil) || d.gone {
		t.Errorf("%+v: a row of before we owned it tells that we do not any more", d)
	}
	if !d.update(row(sent.Add(time.Millisecond), x), nil) || !d.gone || d.next.ID != "x" {
		t.Errorf("%+v: who owns it after us is not told", d)
	}
	d = departure{old: "us", sent: sent}
	ended := sources.Event{Kind: sources.EventOwnerChanged, Previous: sources.OwnerRef{ID: "us"}, Owner: sources.OwnerRef{ID: "y"}}
	if !d.update(row(sent.Add(-time.Second), x), []sources.Event{ended}) || d.next.ID != "y" {
		t.Errorf("%+v: the event tells that y came next", d)
	}
}

func TestAnOwnerOfTheSameProgramIsSaidToComeBack(t *testing.T) {
	t.Parallel()
	for program, want := range map[sources.Program]string{7: "b owns now; it is the same program", 8: "b owns now"} {
		d := departure{old: "a", program: 7, gone: true, next: sources.OwnerRef{ID: "b", Label: "b"}}
		d.update(&sources.Row{Primitive: &sources.Primitive{Owners: []sources.Owner{{ID: "b", Label: "b", Program: program}}}}, nil)
		if got := d.text(sources.KindMutex); got != want {
			t.Errorf("program %d: %q, want %q", program, got, want)
		}
	}
}
