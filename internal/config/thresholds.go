package config

import (
	"time"

	"coordtop/sources"
)

// thresholds checks those that depend on each other.
func (v *validator) thresholds(t *sources.Thresholds) {
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
}
