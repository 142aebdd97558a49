package verdict

import (
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// condition describes a fault.
type condition struct {
	name     string                       // name in JSON and for --fail-on
	chip     string                       // text after the number of rows that have it
	when     string                       // condition for people, with the default thresholds
	grade    string                       // severity for people, with the default thresholds
	judge    func(j *Judge) Severity      // Well if the row has no such fault; Blind if it has, but that is no problem by itself
	since    func(j *Judge) sources.Stamp // called only if the row has the fault, like the next two
	sentence func(j *Judge) string
	states   []sources.Status // states whose words contain the same as the sentence
}

// conditions has the conditions of all faults.
var conditions = [faults]condition{
	None: {judge: func(*Judge) Severity { return Well }},
	TwoOwners: {
		name: "two-owners", chip: "in conflict", grade: "needs a person",
		when:     "two own what only one may own: in one place, on two servers of a dflockd list, or in sources that `agree` in the config",
		judge:    func(j *Judge) Severity { return grade(Bad, j.v.Last == sources.StatusConflict || j.rival != nil) },
		since:    (*Judge).bothSince,
		sentence: (*Judge).bothSentence,
		states:   []sources.Status{sources.StatusConflict},
	},
	NoLeader: {
		name: "no-leader", chip: "without a leader", grade: "needs a person if it had one or is `expected`, else worth a look",
		when: "an election, or a lock that is `expected`, has no owner: at once if its owner's lease ran out, the server restarted or told that the session ended, " +
			"it was ended by force, or nobody owned it at the first look, also at the first after 5 s without one; else after 5 s. It stays one until somebody takes it",
		judge:    noLeader,
		since:    func(j *Judge) sources.Stamp { return j.row.Nobody },
		sentence: (*Judge).vacantSentence,
		states:   []sources.Status{sources.StatusNoLeader, sources.StatusNoCandidates, sources.StatusFree, sources.StatusAbsent},
	},
	Absent: {
		name: "absent", chip: "absent", grade: "worth a look",
		when:     "a lock or semaphore is configured and does not exist (an election, or what is `expected`, then has no leader)",
		judge:    func(j *Judge) Severity { return grade(Warn, j.v.Last == sources.StatusAbsent && !mustBeOwned(j.row)) },
		since:    unknown,
		sentence: func(*Judge) string { return absent },
		states:   []sources.Status{sources.StatusAbsent},
	},
	NoTTL: {
		name: "no-ttl", chip: "without a TTL", grade: "worth a look; needs a person if it is owned for longer than ever before, or somebody waits",
		when: "a lock without one, and without a session that ends it, that was named, or belongs to a known library. Where the library never sets one, " +
			"only once it needs a person",
		judge:    noTTL,
		since:    func(j *Judge) sources.Stamp { return j.endless().Since },
		sentence: (*Judge).endlessSentence,
	},
	LongWait: {
		name: "wait", chip: "with a long wait", grade: "worth a look; needs a person after 10 min, or while the owner is idle",
		when:     "the first waiter of a lock or semaphore has waited for 30 s",
		judge:    longWait,
		since:    func(j *Judge) sources.Stamp { return j.row.Queue.WaitingSince() },
		sentence: (*Judge).waitSentence,
	},
	Late: {
		name: "late", chip: "renewing late", grade: "worth a look",
		when: "the lease is not renewed in time: less than a third of it is left, or less than half of it and the last renewal is two and a half times as long " +
			"ago as this owner usually takes (known after its 3rd renewal)",
		judge: func(j *Judge) Severity {
			return grade(Warn, j.v.Last == sources.StatusLedLate || j.v.Last == sources.StatusHeldSilent)
		},
		since: func(j *Judge) sources.Stamp {
			return sources.Stamp{At: j.row.LateAt(j.State.Thresholds), How: sources.Inferred}
		},
		sentence: func(j *Judge) string { return "the renewal of " + j.ownerLabel() + " is late" },
		states:   []sources.Status{sources.StatusLedLate, sources.StatusHeldSilent},
	},
	Full: {
		name: "full", chip: "full", grade: "worth a look", when: "no permit was free for 5 min while somebody waited",
		judge:    func(j *Judge) Severity { return grade(Warn, j.passed(fullAt(j.row, &j.State.Thresholds))) },
		since:    func(j *Judge) sources.Stamp { return sources.Stamp{At: j.row.TakenSince(), How: sources.Seen} },
		sentence: func(j *Judge) string { return "no permit was free for " + format.Age(j.now.Sub(j.row.TakenSince())) },
	},
	Flapping: {
		name: "flapping", chip: "flapping", grade: "worth a look", when: "an election had more than 2 losses in 10 min; a hand-over is not a loss",
		judge: func(j *Judge) Severity {
			return grade(Warn, j.row.Kind == sources.KindElection && j.losses() > j.State.Thresholds.FlapLosses)
		},
		since: unknown,
		sentence: func(j *Judge) string {
			return "flapping: " + format.Count(j.losses()) + " losses in " + format.Age(j.State.Thresholds.FlapWithin)
		},
	},
	Stale: {
		name: "stale", chip: "stale", grade: "worth a look; needs a person after 1 min",
		when: "a source has not answered within its limit. Its rows keep their last state and are sorted right after those with `!`",
		judge: func(j *Judge) Severity {
			return grade(Blind, j.v.Status == sources.StatusStale || j.v.Status == sources.StatusNotObserved)
		},
		since:    func(j *Judge) sources.Stamp { return sources.Stamp{At: j.now, How: sources.AtLeast} },
		sentence: (*Judge).staleSentence,
		states:   []sources.Status{sources.StatusStale, sources.StatusNotObserved},
	},
}
