package sources

import (
	"testing"
	"time"
)

func TestThePaceOfAStretchIsTheSlowestInIt(t *testing.T) {
	t.Parallel()
	var sc scope
	at := func(s int) time.Time { return time.Unix(1_796_000_000+int64(s), 0) }
	sc.setPace(at(0), 0) // pushed
	sc.setPace(at(10), time.Second)
	sc.setPace(at(20), 250*time.Millisecond)
	sc.setPace(at(30), 0)
	for _, c := range []struct {
		from, to int
		want     time.Duration
	}{
		{0, 9, 0}, {0, 11, time.Second}, {12, 25, time.Second}, {20, 25, 250 * time.Millisecond},
		{21, 40, 250 * time.Millisecond}, {30, 40, 0}, {0, 40, time.Second}, {10, 10, 0},
	} {
		if got := sc.Every(at(c.from), at(c.to)); got != c.want {
			t.Errorf("from %d to %d s: looks every %v, want %v", c.from, c.to, got, c.want)
		}
	}
	for i := range 3 * maxPaces {
		sc.setPace(at(40+i), time.Duration(2+i%2)*time.Second)
	}
	if got := sc.Every(at(0), at(40)); len(sc.Paces) != maxPaces || got != 3*time.Second {
		t.Errorf("%d paces are kept, and the beginning is %v: want the slowest of what was dropped", len(sc.Paces), got)
	}
}
