// Package drill measures how long an election is without a leader when its leader ends, round after round.
//
// It may import coord, sources, sources/lane, internal/ground/format, internal/ground/spawn, internal/ground/subprocess.
//
// # Who is ended
//
// The candidates of a drill are processes of their own (RunCandidate is what each of them runs), so that a round can
// kill or freeze one as a real failure does. The parent starts them, and ends only processes that it has started. What
// somebody else leads is released, one owner for each call of Options.Release, and in no other way.
//
// If the parent ends, each candidate reads the end of its standard input and resigns; on Linux a candidate that is
// frozen is killed with its parent.
//
// # What is measured
//
// Every length is a lane.Interval. The candidates measure how long none of them led: from the end of the old leader's
// trust, or from its death, until the next one knows that it leads. The gap between the two owners is the one that our
// watch saw, by the arithmetic of package lane. Round.Lengths has these, and the parts that they are made of.
//
// # What ends a drill early
//
// A round begins only while the election is led, by one of our candidates if there are any, and its source answers. A
// source that goes stale, an owner or a waiter that is not ours, and an election without a leader for too long end the
// drill with an error; the rounds until then count.
package drill
