package action

import (
	"slices"
	"strconv"
	"strings"
)

// Account is the sentence about an action in the Detail of its event: who did what, why, and with which result. A
// recording and a report have the whole sentence.
type Account struct {
	Verb   string // "lost" for a lease that ended by itself
	Who    string // user@host, with the client's address over ssh; earlier versions wrote only the user
	Reason string // "": none was given
	Result string // a phase, such as "done", or other words of ours
	More   string // the text after the result, with its separator: when, and what was seen
}

// String returns the sentence.
func (a Account) String() string {
	who := plain.Replace(a.Who)
	if a.Reason != "" {
		who += " (" + strconv.Quote(a.Reason) + ")"
	}
	return a.Verb + " by " + who + ": " + a.Result + a.More
}

// plain removes from a name the characters that would end it in an Account.
var plain = strings.NewReplacer(": ", ":", " (", "(")

// AccountOf parses the sentence about an action. ok is false for any other text.
func AccountOf(detail string) (a Account, ok bool) {
	verb, rest, _ := strings.Cut(detail, " by ")
	a.Verb = verb
	if who, behind, found := strings.Cut(rest, ` ("`); found && !strings.Contains(who, ": ") {
		quoted, err := strconv.QuotedPrefix(`"` + behind)
		if err != nil {
			return a, false
		}
		a.Reason, _ = strconv.Unquote(quoted) // quoted is a valid quoted string
		a.Who, rest = who, strings.TrimPrefix(behind[len(quoted)-1:], ")")
		if rest, found = strings.CutPrefix(rest, ": "); !found {
			return a, false
		}
	} else {
		a.Who, rest, _ = strings.Cut(rest, ": ")
	}
	known := verb == lostAction || slices.ContainsFunc(Verbs(), func(d Doing) bool { return d.Verb.String() == verb })
	for _, result := range []string{Seen.String(), Unseen.String(), Missed.String(), Failed.String(), Dropped.String(), Unknown.String(), StillWaiting, noEnd} {
		if more, is := strings.CutPrefix(rest, result); is && (more == "" || strings.ContainsAny(more[:1], ": ,")) {
			a.Result, a.More = result, more
			return a, known
		}
	}
	return a, false
}
