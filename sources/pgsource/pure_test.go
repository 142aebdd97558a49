package pgsource

import (
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/kit"
)

func TestPaceFollowsWhatHappensAndWhatItCosts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	usual := pace{Pace: kit.Pace{Min: 250 * time.Millisecond, Max: 5 * time.Second, Cost: time.Millisecond}}
	with := func(change func(*pace)) pace {
		p := usual
		change(&p)
		return p
	}
	for _, c := range []struct {
		what  string
		p     pace
		eager bool
		want  time.Duration
	}{
		{"at rest", usual, false, time.Second},
		{"somebody waits, or looks", usual, true, 250 * time.Millisecond},
		{"just changed", with(func(p *pace) { p.Changed = now.Add(-9 * time.Second) }), false, 250 * time.Millisecond},
		{"changed long ago", with(func(p *pace) { p.Changed = now.Add(-11 * time.Second) }), false, time.Second},
		{"many rows", with(func(p *pace) { p.rows = 5001 }), true, 2 * time.Second},
		{"a costly look", with(func(p *pace) { p.Cost = 60 * time.Millisecond }), true, 3 * time.Second},
		{"a very costly look", with(func(p *pace) { p.Cost = time.Second }), true, 5 * time.Second},
		{"a look that costs somewhat", with(func(p *pace) { p.Cost = 40 * time.Millisecond }), true, 800 * time.Millisecond},
		{"a lower limit of the user's", with(func(p *pace) { p.Min = 2 * time.Second }), false, 2 * time.Second},
		{"an upper limit of the user's", with(func(p *pace) { p.Max, p.rows = 500*time.Millisecond, 9000 }), false, 500 * time.Millisecond},
	} {
		if got := c.p.interval(now, c.eager); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestOnlySlowLooksInARowAreCostly(t *testing.T) {
	t.Parallel()
	p := pace{Pace: kit.Pace{Min: 250 * time.Millisecond, Max: 5 * time.Second}}
	for i, c := range []struct{ took, want time.Duration }{
		{time.Millisecond, 250 * time.Millisecond}, {10 * time.Second, 250 * time.Millisecond}, // a stall
		{time.Millisecond, 250 * time.Millisecond},
		{100 * time.Millisecond, 250 * time.Millisecond}, {100 * time.Millisecond, 250 * time.Millisecond},
		{100 * time.Millisecond, 5 * time.Second}, {200 * time.Millisecond, 5 * time.Second},
		{time.Millisecond, 250 * time.Millisecond}, // it is over
	} {
		p.AddCost(c.took)
		if got := p.interval(time.Now(), true); got != c.want {
			t.Errorf("look %d of %v: the pause is %v, want %v", i+1, c.took, got, c.want)
		}
	}
}

// TestModesConflictAsTheManualSays writes the manual's table out.
func TestModesConflictAsTheManualSays(t *testing.T) {
	t.Parallel()
	table := map[mode]string{
		accessShare: ".......x", rowShare: "......xx", rowExclusive: "....xxxx", shareUpdateExclusive: "...xxxxx",
		share: "..xx.xxx", shareRowExclusive: "..xxxxxx", exclusive: ".xxxxxxx", accessExclusive: "xxxxxxxx",
	}
	for m, row := range table {
		for i, c := range row {
			if other := accessShare + mode(i); m.conflicts(other) != (c == 'x') {
				t.Errorf("%s and %s", modeNames[m], modeNames[other])
			}
		}
		if modeOf([]byte(modeNames[m])) != m {
			t.Errorf("%s is not read", modeNames[m])
		}
	}
	if m := modeOf([]byte("NewLock")); m != modeUnknown || m.shown() != sources.Exclusive || !exclusive.conflicts(m) {
		t.Errorf("a mode that nobody knows: %v", m)
	}
}

func TestKeysThatAreWrittenInAQueryAreRead(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"select pg_try_advisory_lock(4242)":                       "4242",
		"SELECT pg_try_advisory_xact_lock( -7::bigint ) as ok":    "-7",
		"select pg_try_advisory_lock_shared(17 , -4)":             "17:-4",
		"select pg_try_advisory_lock(1::int, 2::int4), now()":     "1:2",
		"select pg_try_advisory_lock($1)":                         "",
		"select pg_try_advisory_lock(hashtext('x'))":              "",
		"select pg_advisory_lock(4242)":                           "",
		"select pg_try_advisory_lock(99999999999999999999999)":    "",
		"select pg_try_advisory_lock(1, 99999999999999999999999)": "",
	} {
		key, ok := triedKey(query)
		if ok != (want != "") || ok && key.String() != want {
			t.Errorf("%s: %v, %v", query, key, ok)
		}
	}
}

func TestRowsInTheBinaryFormatAreRead(t *testing.T) {
	t.Parallel()
	f := fields{nil, {0, 0, 0, 7}, {0, 0, 0, 0, 0, 15, 66, 64}, {1}, {0, 9}, []byte("text"), {}}
	if !f.null(0) || f.number32(1) != 7 || f.micros(2) != pgEpoch+1_000_000 || !f.yes(3) || f.number16(4) != 9 || f.text(5) != "text" {
		t.Error("misread")
	}
	if f.number32(0) != 0 || f.micros(0) != 0 || f.yes(0) || f.number16(0) != 0 || f.number32(6) != 0 || f.micros(5) != 0 {
		t.Error("nothing, or something of another length, is read as a number")
	}
	if got := string(array(nil, []uint32{1, 4294967295})); got != "{1,4294967295}" {
		t.Error(got)
	}
}

func FuzzRowsOfAnyLengthAreReadWithoutPanic(f *testing.F) {
	f.Add([]byte("abc"), uint8(3))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, pick uint8) {
		row := make(fields, 20)
		for i := range row {
			if (int(pick)+i)%3 != 0 {
				row[i] = data[:min(len(data), i)]
			}
		}
		a := readActivity(row)
		_ = traceOf(&a)
		_, _ = triedKey(string(data))
		_ = modeOf(data)
		if a.who.hidden && a.does != (doings{}) {
			t.Error("what is hidden is told")
		}
	})
}
