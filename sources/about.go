package sources

import (
	"slices"
	"time"
)

// tripNoise is by how much a round trip may differ from the one told last without being told.
const tripNoise = 5 * time.Millisecond

// startNoise is by how much the beginning of one server process differs from look to look: it is
// told as an age in whole seconds.
const startNoise = 2 * time.Second

// Same reports whether b need not be told after a: a round trip or a pause between two looks
// that differs a little does not count.
func (a *About) Same(b *About) bool {
	trips := (a.RoundTrip > 0) == (b.RoundTrip > 0) && similar(a.RoundTrip, b.RoundTrip, tripNoise)
	return trips && similar(a.Sampling, b.Sampling, 0) &&
		a.Mode == b.Mode && a.Version == b.Version && a.Role == b.Role && a.Absent == b.Absent &&
		a.Incarnation == b.Incarnation && a.Started.Sub(b.Started).Abs() <= startNoise && a.Became == b.Became && a.BecameHow == b.BecameHow &&
		a.Partial == b.Partial && a.LeftOut == b.LeftOut &&
		slices.Equal(a.Warnings, b.Warnings) && slices.Equal(a.Config, b.Config)
}

// Missed reports whether a look was left out in a pause between two, where they are so far apart.
func Missed(pause, sampling time.Duration) bool { return pause > 2*sampling }

// similar reports whether a and b are alike: within slack, or none more than twice the other. A
// pause of twice the length is still within the silence limit, see silenceAfter.
func similar(a, b, slack time.Duration) bool {
	return (a-b).Abs() <= slack || a <= 2*b && b <= 2*a
}
