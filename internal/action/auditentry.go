package action

import (
	"time"

	"coordtop/sources"
)

// AuditEntry is one action of the audit, by this program or another: its two lines, or the one there is.
type AuditEntry struct {
	ID     string
	At     time.Time // when it began
	Who    string    // user@host, and the address from where over ssh
	Action string    // a verb, "arm", "disarm", or "lost" for a lease that ended by itself
	Ref    sources.Ref
	Kind   string
	Before string // label of the owner before, or its ID; "": none
	After  string // of the owner that was seen after it
	Reason string
	Call   string        // what was sent
	Result string        // a phase, as "done"; "": no end is written, or there is none
	Detail string        // what was seen
	Ours   bool          // by this run of the program
	Took   time.Duration // to the service's answer; 0: not known
}
