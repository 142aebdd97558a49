package lane

import "testing"

// TestLengthsAreAsNarrowAsWhatWasSeen has one term, of which the window shows what lies between
// the ticks 20 and 60 of 100.
func TestLengthsAreAsNarrowAsWhatWasSeen(t *testing.T) {
	t.Parallel()
	at := func(n int, how Known) Stamp { return Stamp{At: tick(n), How: how} }
	between := func(after, n int) Stamp { return StampBetween(tick(after), tick(n), Seen) }
	exactly := func(n int) Interval { return Interval{Min: ticks(n), Max: ticks(n)} }
	from := func(n int) Interval { return Interval{Min: ticks(n), Max: Endless} }
	bounds := func(low, high int) Interval { return Interval{Min: ticks(low), Max: ticks(high)} }
	for name, c := range map[string]struct {
		term         Term
		dark         []Dark
		length, part Interval
		owned        int
	}{
		"begun before the window":          {Term{Start: at(10, Told), End: at(50, Told)}, nil, exactly(40), exactly(30), 30},
		"over behind the window":           {Term{Start: at(30, Told), End: at(90, Told)}, nil, exactly(60), exactly(30), 30},
		"found":                            {Term{Start: at(30, AtLeast), End: at(50, Told)}, nil, from(20), from(20), 20},
		"found before the window":          {Term{Start: at(10, AtLeast), End: at(50, Told)}, nil, from(40), exactly(30), 30},
		"begun between looks":              {Term{Start: between(15, 25), End: at(50, Told)}, nil, bounds(25, 35), bounds(25, 30), 25},
		"over between looks":               {Term{Start: at(30, Told), End: between(55, 65)}, nil, bounds(25, 35), bounds(25, 30), 25},
		"over at last between looks":       {Term{Start: at(30, Told), End: between(65, 70)}, nil, bounds(35, 40), exactly(30), 30},
		"not before an instant":            {Term{Start: at(30, Told), End: at(50, Bound)}, nil, from(20), from(20), 20},
		"lasting":                          {Term{Start: at(30, Told)}, nil, from(70), exactly(30), 30},
		"lasting, and not observed now":    {Term{Start: at(30, Told)}, []Dark{{From: tick(40)}}, from(10), from(10), 10},
		"in doubt":                         {Term{Start: at(30, Told), End: at(50, Told), Sure: tick(45)}, []Dark{{tick(35), tick(45)}}, bounds(5, 20), bounds(5, 20), 10},
		"in doubt behind the window":       {Term{Start: at(30, Told), End: at(90, Told), Sure: tick(80)}, []Dark{{tick(70), tick(80)}}, bounds(10, 60), exactly(30), 30},
		"proved over darkness":             {Term{Start: at(30, Told), End: at(50, Told)}, []Dark{{tick(35), tick(45)}}, exactly(20), exactly(20), 10},
		"no earlier than a connection":     {Term{Start: at(30, Bound), End: at(50, Told)}, nil, bounds(0, 20), bounds(20, 20), 20},
		"claimed, and seen behind a doubt": {Term{Start: at(30, Claimed), End: at(50, Told), Sure: tick(45)}, []Dark{{tick(35), tick(45)}}, from(5), from(5), 10},
	} {
		l := Lane{Terms: []Term{c.term}, Dark: c.dark}
		if got := l.Length(0, tick(100)); got != c.length {
			t.Errorf("%s: it lasted %v, want %v", name, got, c.length)
		}
		shares := l.Shares(Span{From: tick(20), To: tick(60)}, tick(100))
		if len(shares) != 1 || shares[0].Longest != c.part || shares[0].Owned != ticks(c.owned) || shares[0].Terms != 1 {
			t.Errorf("%s: of the window it had %+v, want %v, of which %d were seen", name, shares, c.part, c.owned)
		}
	}
}
