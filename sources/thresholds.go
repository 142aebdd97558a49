package sources

import "time"

// Thresholds says from when on something is called late, lost, flapping or a problem. It
// is the one place where these figures stand; the configuration may change them.
type Thresholds struct {
	NoLeader time.Duration `yaml:"no_leader"` // an election without a leader for so long needs a person

	LateLeft   float64 `yaml:"late_left"`   // less than this part of the lease left: a renewal is late
	LateMissed int     `yaml:"late_missed"` // or so many pauses of the owner's own rhythm missed ...
	LateWorn   float64 `yaml:"late_worn"`   // ... and less than this part of the lease left
	LateSeen   int     `yaml:"late_seen"`   // renewals that must have been seen before a rhythm counts

	LossGap time.Duration `yaml:"loss_gap"` // a change without a told cause is a loss if nobody owned for longer than this and the row's usual gap

	Gap     time.Duration `yaml:"gap"` // nobody owned it for longer than this, and than GapPart of a column: a block on the strip, else a break
	GapPart float64       `yaml:"gap_part"`

	FlapLosses int           `yaml:"flap_losses"` // more losses than this within FlapWithin is flapping
	FlapWithin time.Duration `yaml:"flap_within"` // at most an hour, counted by the minute

	Wait       time.Duration `yaml:"wait"`        // a first waiter that waits longer is worth a look
	WaitPerson time.Duration `yaml:"wait_person"` // and needs a person from here on
	Full       time.Duration `yaml:"full"`        // a semaphore without a free permit for so long while somebody waits
	Stale      time.Duration `yaml:"stale"`       // a source that is silent for so long needs a person
}

// DefaultThresholds are those in use where nothing else is configured.
func DefaultThresholds() Thresholds {
	return Thresholds{
		NoLeader: 5 * time.Second,
		LateLeft: 1.0 / 3, LateMissed: 2, LateWorn: 1.0 / 2, LateSeen: 3,
		LossGap: time.Second,
		Gap:     time.Second, GapPart: 1.0 / 4,
		FlapLosses: 2, FlapWithin: 10 * time.Minute,
		Wait: 30 * time.Second, WaitPerson: 10 * time.Minute,
		Full:  5 * time.Minute,
		Stale: time.Minute,
	}
}
