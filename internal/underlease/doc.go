// Package underlease runs work while a primitive is ours: the commands lock and elect.
//
// It may import coord, internal/job, internal/ground/*.
//
// # Lock
//
// Lock claims once, runs the work under the lease, gives the lease back when the work has ended, and returns. The lease
// is given back only when nothing of the work is left (job.Result.Left); else it runs out at the service.
//
// # Lead
//
// Lead campaigns. A term that is lost ends the work, and Lead campaigns again, with a new session, until a signal or ctx
// ends it. The work may also end by itself: then Lead resigns and returns, or with LeadOptions.Restart campaigns again
// after a pause of 1 s to 1 min that grows, and begins anew after a term that lasted a minute.
//
// The hooks of a term run before the work begins and after it has ended, one at a time. Leases are renewed in goroutines
// of package coord, so a slow hook delays no renewal. A hook is killed after 10 s; OnWon also when the term is lost, and
// both after 4 s if ctx ends, because the process must end soon.
//
// # Waiting
//
// A claim that waits outlives errors that may pass (coord.Passing), over as many sessions as that takes. With
// Options.StartWithin the first session must open in that time. When Options.Wait is over, the error wraps ErrMissed if
// the service has said that others have the primitive, and ErrNoAnswer if the last thing known was an error. Nothing of
// a claim that ended is left at the service; where that is not sure, the error wraps coord.ErrUncertain.
package underlease
