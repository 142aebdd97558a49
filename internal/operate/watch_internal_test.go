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

func TestTheTimeBetweenTwoOwnersIsSaidWithWhatWasMissing(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		kind sources.Kind
		gap  sources.Interval
	}{
		"b owns now": {sources.KindMutex, sources.Interval{}},
		"b leads now, after 5.0 s without a leader":                          {sources.KindElection, sources.Interval{Min: 5 * time.Second, Max: 5 * time.Second}},
		"b owns now, after 2.0 s to 5.0 s without an owner":                  {sources.KindMutex, sources.Interval{Min: 2 * time.Second, Max: 5 * time.Second}},
		"b owns now, after up to 83 ms without an owner, looks every 250 ms": {sources.KindMutex, sources.Interval{Max: 83 * time.Millisecond, Every: 250 * time.Millisecond}},
	} {
		d := departure{next: sources.OwnerRef{ID: "b"}, gap: tt.gap}
		if got := d.nextText(tt.kind); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheGapsOfTheLastHourAreCountedWithTheLongest(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1: "In the last hour nobody owned it once, for up to 9.0 s.",
		3: "In the last hour nobody owned it 3 times, for up to 9.0 s.",
	} {
		gaps := sources.GapStats{Count: n, Longest: sources.Interval{Max: 9 * time.Second}}
		if got := gapsText(&gaps); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhoOwnedItBeforeDoesNotComeNext(t *testing.T) {
	t.Parallel()
	sent := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	row := func(ids ...string) *sources.Row {
		p := &sources.Primitive{At: sent.Add(time.Second), OwnersHow: sources.Told}
		for _, id := range ids {
			p.Owners = append(p.Owners, sources.Owner{ID: id, Label: id})
		}
		return &sources.Row{Primitive: p}
	}
	took := func(id string) []sources.Event {
		return []sources.Event{{Kind: sources.EventReleased, Previous: sources.OwnerRef{ID: "a"}}, {Kind: sources.EventAcquired, Owner: sources.OwnerRef{ID: id, Label: id}}}
	}
	for want, c := range map[string]struct {
		row    *sources.Row
		events []sources.Event
	}{
		"2 more of its owners keep it":  {row: row("b", "c")},
		"1 more of its owners keeps it": {row: row("c"), events: took("c")},
		"nobody owns it now":            {row: row()},
		"d owns now":                    {row: row("b", "d", "c")},
		"e owns now":                    {row: row("b", "e"), events: took("e")},
	} {
		n := run{sent: sent, owners: row("a", "b", "c").Owners}
		d := n.departure("a")
		d.update(c.row, c.events)
		if got := d.text(sources.KindMutex); got != want || !d.gone {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNobodyIsWaitedForWhereOthersKeepIt(t *testing.T) {
	t.Parallel()
	sent := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	owned := []sources.Owner{{ID: "a"}, {ID: "b"}}
	for _, c := range []struct {
		kind    sources.Kind
		left    []sources.Owner
		settled bool
	}{
		{sources.KindMutex, owned[1:], true}, {sources.KindElection, owned[1:], true}, {sources.KindSemaphore, owned[1:], false},
		{sources.KindMutex, nil, false}, {sources.KindElection, nil, false},
		{sources.KindMutex, []sources.Owner{{ID: "c"}}, true}, {sources.KindSemaphore, []sources.Owner{{ID: "b"}, {ID: "c"}}, true},
	} {
		n := run{sent: sent, owners: owned}
		d := n.departure("a")
		d.update(nil, []sources.Event{{Kind: sources.EventReleased, Previous: sources.OwnerRef{ID: "a"}}}) // the row comes later
		if d.settled(c.kind) {
			t.Errorf("%v: settled by an event that names nobody", c.kind)
		}
		d.update(&sources.Row{Primitive: &sources.Primitive{At: sent.Add(time.Second), OwnersHow: sources.Told, Owners: c.left}}, nil)
		if d.settled(c.kind) != c.settled {
			t.Errorf("%v, owned by %v: settled %v", c.kind, c.left, !c.settled)
		}
	}
}
