package config

import (
	"cmp"
	"time"

	"coordtop/sources"
)

// thresholds are the defaults with what the file says instead.
func (v *validator) thresholds(f *fileThresholds) sources.Thresholds {
	t := sources.DefaultThresholds()
	for _, d := range []struct {
		to   *time.Duration
		from limit
	}{
		{&t.NoLeader, f.NoLeader}, {&t.LossGap, f.LossGap}, {&t.Gap, f.Gap}, {&t.FlapWithin, f.FlapWithin}, {&t.Wait, f.Wait},
		{&t.WaitPerson, f.WaitPerson}, {&t.Full, f.Full}, {&t.Stale, f.Stale},
	} {
		*d.to = cmp.Or(time.Duration(d.from), *d.to)
	}
	for _, n := range []struct {
		to   *int
		from count
	}{{&t.LateMissed, f.LateMissed}, {&t.LateSeen, f.LateSeen}, {&t.FlapLosses, f.FlapLosses}} {
		*n.to = cmp.Or(int(n.from), *n.to)
	}
	for _, p := range []struct {
		to   *float64
		from percent
	}{{&t.LateLeft, f.LateLeft}, {&t.LateWorn, f.LateWorn}, {&t.GapPart, f.GapPart}} {
		if p.from > 0 {
			*p.to = float64(p.from) / 100
		}
	}
	if t.FlapWithin > time.Hour {
		v.wrong("thresholds.flap_within", "must be an hour at most: losses are counted for that long")
	}
	if t.FlapWithin < time.Minute {
		v.wrong("thresholds.flap_within", "must be a minute at least: losses are counted by the minute")
	}
	if t.LateLeft > t.LateWorn {
		v.wrong("thresholds.late_left", "must not be more than late_worn, from where on missed renewals count")
	}
	if t.Wait > t.WaitPerson {
		v.wrong("thresholds.wait", "must not be longer than wait_person")
	}
	return t
}
