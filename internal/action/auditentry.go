package action

import (
	"fmt"
	"strings"
	"time"

	"coordtop/sources"
)

// AuditEntry is one action of the audit, by this program or another: its two lines, or the one there is.
type AuditEntry struct {
	ID      string
	At      time.Time // when it began
	Who     string    // user@host, and the address from where over ssh
	Action  string    // a verb, "arm", "disarm", or "lost" for a lease that ended by itself
	Ref     sources.Ref
	Kind    string
	Before  string // label of the owner before, or its ID; "": none
	After   string // of the owner that was seen after it
	Reason  string
	Call    string        // what was sent
	Result  string        // a phase, as "done"; "": no end is written, or there is none
	Detail  string        // what was seen
	Ours    bool          // by this run of the program
	Process int           // of another run, where that was on this host; 0: not known
	Runs    bool          // Process runs, and no end is written
	Took    time.Duration // to the service's answer; 0: not known
}

// User is who did it, without the host.
func (e *AuditEntry) User() string {
	user, _, _ := strings.Cut(e.Who, "@")
	return user
}

// Unfinished says what is known of an action whose end is not written.
func (e *AuditEntry) Unfinished() string {
	switch {
	case e.Process == 0:
		return "no end is written"
	case e.Runs:
		return fmt.Sprintf("no end is written yet, and process %d runs: it may wait", e.Process)
	}
	return fmt.Sprintf("no end is written, and process %d is gone: whether it was done is not known", e.Process)
}
