package ydbcoord

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"
)

// errSuperseded ends a request that a later one of ours has made pointless.
var errSuperseded = errors.New("superseded by a later request")

// resend prepares what is not over to be sent again, on a new stream. What the service did
// with it before is not known, so each verb is repeated in its own way:
//
//	acquire   with what is left of its wait. The service keeps the place, or answers at
//	          once if it is ours already. Not if a release was asked for since: the
//	          release alone says all that the service needs to know
//	release   as it is; released may be false now although the first one worked
//	describe  as it is
//	create    as it is; that it exists may be our own work, see Session.Create
//	delete    as it is; that it does not exist may be our own work, see Session.Delete
//	update    unless we have asked for a newer one since
//	ping      as it is
//
// Arming describes are not repeated: watches died with the stream, and their manager
// begins anew.
func (t *table) resend() {
	t.ready = nil
	clear(t.lanes)
	all := slices.SortedFunc(maps.Values(t.open), func(a, b *request) int { return cmp.Compare(a.id, b.id) })
	released := map[string]uint64{} // the last release of a name
	for _, r := range all {
		if r.verb == verbRelease {
			released[r.name] = r.id
		}
	}
	for _, r := range all {
		r.sent, r.queued = time.Time{}, false
		switch {
		case r.verb == verbArm,
			r.verb == verbAcquire && released[r.name] > r.id,
			r.verb == verbUpdate && t.newest[r.name] != r:
			t.end(r, errSuperseded)
		default:
			t.line(r)
		}
	}
}
