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

// outage is what was told of why a source is down. The zero value is the beginning of one.
type outage struct {
	told []string // different reasons, in the order in which they were first told
	last string   // the one that was told last
	next string   // a reason that was told before, and is the one of the latest failures
	runs int      // of so many
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
	case reason == o.last:
		o.next, o.runs = "", 0
		return false
	case !slices.Contains(o.told, reason):
		if len(o.told) == mostReasons {
			return false
		}
		o.told = append(o.told, reason)
	case reason != o.next:
		o.next, o.runs = reason, 1
		return false
	default:
		if o.runs++; o.runs < lastingAfter {
			return false
		}
	}
	o.last, o.next, o.runs = reason, "", 0
	return true
}
