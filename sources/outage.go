package sources

import (
	"errors"
	"slices"
)

const (
	// mostReasons is how many reasons of one outage are told: a server may put something
	// new into each of its refusals.
	mostReasons = 20
	// lastingAfter is how many failures in a row bring back a reason that was told already,
	// and another one since.
	lastingAfter = 3
)

// outage has the reasons why a source is down, as they were told. The zero value is the beginning of one.
type outage struct {
	reasons   []string // different reasons, in the order in which they were first told
	latest    string   // told last
	returning string   // a reason that was told before, and is the one of the latest failures
	failures  int      // of so many
}

// isNews records why a connection failed, and reports whether that is to be told: reasons
// that are new in this outage are, and one that was told before another and lasts now.
// Silence is one reason, whether the source or the Hub noticed it.
func (o *outage) isNews(err error) bool {
	reason := err.Error()
	if errors.Is(err, ErrSilent) {
		reason = ErrSilent.Error()
	}
	switch {
	case reason == o.latest:
		o.returning, o.failures = "", 0
		return false
	case !slices.Contains(o.reasons, reason):
		if len(o.reasons) == mostReasons {
			return false
		}
		o.reasons = append(o.reasons, reason)
	case reason != o.returning:
		o.returning, o.failures = reason, 1
		return false
	default:
		if o.failures++; o.failures < lastingAfter {
			return false
		}
	}
	o.latest, o.returning, o.failures = reason, "", 0
	return true
}
