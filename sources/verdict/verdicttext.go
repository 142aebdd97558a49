package verdict

import (
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// maxLabel is the maximum length of a foreign text in a sentence, in bytes.
const maxLabel = 120

const absent = "it does not exist"

func label(text string) string { return format.Label(text, maxLabel) }

// ownerLabel returns the label of the only owner of the row.
func (j *Judge) ownerLabel() string {
	if len(j.row.Owners) == 1 {
		return label(j.row.Owners[0].Label)
	}
	return "an owner"
}

// vacantSentence returns a sentence about a row without an owner, with the last owner and the end of its ownership.
func (j *Judge) vacantSentence() string {
	text := "nobody owns it"
	switch {
	case j.row.Absent:
		text = absent
	case j.row.Kind == sources.KindElection:
		text = "nobody leads it"
	}
	last := j.row.LastTerm()
	if last == nil {
		return text
	}
	text += ", was " + label(last.Owner.Name())
	if last.Cause != sources.CauseUnknown {
		text += " (" + strings.ReplaceAll(last.Cause.String(), "_", " ")
		if last.How == sources.Inferred {
			text += ", inferred"
		}
		text += ")"
	}
	return text
}

// bothSentence returns a sentence with the owners of a row that only one may own.
func (j *Judge) bothSentence() string {
	if j.v.Last == sources.StatusConflict {
		var names []string
		for i := range j.row.Owners[:min(len(j.row.Owners), 3)] {
			names = append(names, label(j.row.Owners[i].Label))
		}
		return "owned at once by " + strings.Join(names, " and ")
	}
	where := j.rival.Source
	if where == j.row.Source {
		where = j.rival.Space
	}
	return "also owned by " + label(sole(j.rival).Label) + " in " + label(where)
}

// bothSince returns the beginning of the second of two ownerships.
func (j *Judge) bothSince() sources.Stamp {
	one, other := sole(j.row).Since, sources.Stamp{}
	if j.rival != nil {
		other = sole(j.rival).Since
	} else {
		other = j.row.Owners[1].Since
	}
	if one.How == sources.Unknown || other.How != sources.Unknown && other.At.Before(one.At) {
		return one
	}
	return other
}

func (j *Judge) endlessSentence() string {
	text := "the lease of " + label(j.endless().Label) + " has no end"
	switch {
	case j.row.Queue.Len > 0:
		return text + ", and somebody waits"
	case j.passed(overdueAt(j.row)):
		return text + ", and it is owned for longer than ever before"
	}
	return text
}

func (j *Judge) waitSentence() string {
	text := "somebody has waited for " + format.Age(j.now.Sub(j.row.Queue.WaitingSince().At))
	if ownerIdle(j.row) {
		text += ", and the owner is idle"
	}
	return text
}

func (j *Judge) staleSentence() string {
	if j.v.Status == sources.StatusNotObserved {
		return "not observed yet"
	}
	return "last known " + format.Age(j.asked.Sub(j.now)) + " ago"
}
