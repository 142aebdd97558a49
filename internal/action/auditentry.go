package action

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// AuditEntry is one action of the audit, by this program or another, made from its one or two lines.
type AuditEntry struct {
	ID      string
	At      time.Time // when it began; for a note, the moment that it is about
	Written time.Time // the time of its first line
	Ended   time.Time // the time of its second line; zero: it has only one
	Who     string    // user@host, with the client's address over ssh
	Action  string    // a verb, "arm", "disarm", "note", "acknowledge", "mute", "unmute", or "lost" for a lease that ended by itself
	Ref     sources.Ref
	Alias   string // alias of a lock whose name is a number; "": none
	Address string // of the server of the source; "": not known
	Kind    string
	Before  sources.OwnerRef // the owner before; zero: none
	After   sources.OwnerRef // the owner that was seen after it
	Reason  string
	Call    string        // what was sent
	Result  string        // the phase in the second line of the audit, such as "done"; "": that line is missing
	Detail  string        // what was seen
	Ours    bool          // it is an action of this run of the program
	Process int           // id of the process of another run on this host; 0: not known
	Runs    bool          // Process still runs, and there is no second line
	Took    time.Duration // until the service's answer; 0: not known

	Recording string // of a note: the recording that it belongs to; "": it came from the store of the team, or is in it
}

// NoteAction is the Action of a note.
const NoteAction = "note"

// Pending reports whether the second line of an action may still be written.
func (e *AuditEntry) Pending() bool {
	return e.Action != NoteAction && e.Result == "" && (e.Process == 0 || e.Runs)
}

// Event returns the entry as an event of a Hub, which is the same in each program that reads the audit. ok is false if
// the entry has no event.
func (e *AuditEntry) Event() (out sources.Event, ok bool) {
	out = sources.Event{Kind: sources.EventAction, RefKind: sources.KindNamed(e.Kind), How: sources.Ours, Ref: e.Ref, Alias: e.Alias, At: e.At, Owner: e.After}
	if e.Alias != "" {
		out.AliasHow = sources.Told
	}
	account := Account{Verb: e.Action, Who: e.Who, Reason: e.Reason, Result: e.Result}
	switch {
	case e.Action == NoteAction:
		out.Kind, out.Detail = sources.EventNote, e.Detail
		return out, true
	case slices.Contains([]string{"arm", "disarm", "acknowledge", "mute", "unmute"}, e.Action): // only this program is told of it
		return out, false
	case e.Result == "":
		account.Result = e.Unfinished()
		out.Detail = account.String()
		return out, true
	}
	seen := e.Result == Seen.String()
	if e.Action == Release.String() || e.Action == Crash.String() {
		out.Previous = e.Before
		if seen {
			out.Cause = sources.CauseEvicted
		}
	}
	took, answered, detail := "", "", ""
	if d := e.Ended.Sub(e.At); d > 0 {
		took = " after " + format.Precise(d)
	}
	if e.Took > 0 {
		answered = ", answered after " + format.Precise(e.Took)
	}
	if e.Detail != "" {
		detail = ": " + e.Detail
	}
	account.More = detail + took
	if seen {
		account.More = took + answered + detail
	}
	out.Detail = account.String()
	return out, true
}

// StillWaiting begins each message about a waiting claim.
const StillWaiting = "still waiting"

const (
	lostAction = "lost"
	noEnd      = "no end is written"
)

// User returns the user who did it, without the host.
func (e *AuditEntry) User() string {
	user, _, _ := strings.Cut(e.Who, "@")
	return user
}

// Unfinished describes what is known of an action without a second line.
func (e *AuditEntry) Unfinished() string {
	switch {
	case e.Process == 0:
		return noEnd
	case e.Runs:
		return fmt.Sprintf(noEnd+" yet, and process %d runs: it may wait", e.Process)
	}
	return fmt.Sprintf(noEnd+", and process %d is gone: whether it was done is not known", e.Process)
}
