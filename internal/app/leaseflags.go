package app

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/action"
	"coordtop/internal/config"
)

// leaseFlags are the flags for the session and the lease of a claim.
type leaseFlags struct {
	session   action.Session
	recovery  time.Duration
	ephemeral bool // only with ephemeralFlag
}

func (o *leaseFlags) flags(cmd *cobra.Command) {
	lengthVar(cmd, &o.session.Lease, "lease", 0, "the service keeps it for so long after the last renewal (default: Redis 30s, dflockd 20s, Postgres 11s, YDB 10s)")
	lengthVar(cmd, &o.recovery, "recovery-window", 0, "the session, and all that it owns, outlives its connection for so long (YDB; there the same as --lease)")
	lengthVar(cmd, &o.session.RenewEvery, "renew-every", 0, "renew at least so often, less than half of the lease (default: by the backend)")
	lengthVar(cmd, &o.session.StartTimeout, "start-timeout", 0, "give each try to connect so long (default 10s)")
	lengthVar(cmd, &o.session.RetryDelay, "retry-delay", 0, "the longest pause between two tries (default: growing to 5s)")
	cmd.Flags().StringVar(&o.session.Description, "description", "", "name our session TEXT at the service: at most 40 ASCII characters, no blank (dflockd keeps no names)")
}

func (o *leaseFlags) ephemeralFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.ephemeral, "ephemeral", false, "create the semaphore if it is absent; it vanishes with its last owner (YDB)")
}

// wishes returns what the flags ask of a session.
func (o *leaseFlags) wishes() (action.Session, error) {
	w := o.session
	if text := w.Description; len(text) > config.MaxIdentity || strings.ContainsFunc(text, func(r rune) bool { return !config.InIdentity(r) }) {
		return w, usagef("--description takes at most %d printable ASCII characters, none of them | or a blank", config.MaxIdentity)
	}
	if o.recovery > 0 && w.Lease > 0 && w.Lease != o.recovery {
		return w, usagef("--lease and --recovery-window are the same on YDB: give one of them")
	}
	if o.recovery > 0 {
		w.Lease, w.Recovers = o.recovery, true
	}
	return w, nil
}
