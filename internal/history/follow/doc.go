// Package follow shows the present of a recording that another process writes: a Hub that receives the Inputs of the
// recorder as soon as they are written, and that asks no server.
//
// It may import internal/history, sources, internal/ground/backoff, internal/ground/spawn.
//
// # What is present
//
// A [Follower] reads the newest run from its last keyframe on, and moves to the next run when that has begun. The
// State changes once for each read; a State from the middle of what was missed is never published.
//
// Until the Follower has seen the recorder write, and when it has not for [coordtop/internal/history.Silence], everything in the State is old: the recorder may be dead, and its last State must not look fresh. A
// recorder whose writes are late by more than that counts as silent, too.
//
// # Clocks
//
// All times in the State are on the clock of the recorder. [Follower.Now] is the present time on that clock: the latest
// time that was written, compared with the time at which it was read. It can be late by the time that writing and
// reading take, some tenths of a second; a difference of less than a second therefore counts as none.
//
// # Failures
//
// A store that does not answer, and a group that cannot be decoded, are reported by [Follower.Status] and tried again
// with growing pauses. The content of a store is not trusted: a panic that it causes is an error of the read.
package follow
