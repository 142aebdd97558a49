package diagnose

import "slices"

// Pattern is a kind of Finding: its name in JSON and in the config. `help why` says when each is found.
type Pattern string

// The patterns.
const (
	ServerSilent    Pattern = "server-silent"
	RecorderSilent  Pattern = "recorder-silent"
	ServerRestarted Pattern = "server-restarted"
	ServerSlow      Pattern = "server-slow"
	OwnerTogether   Pattern = "owner-gone"
	TwoOwners       Pattern = "two-owners"
	Ring            Pattern = "ring"
	OwnUpgrade      Pattern = "own-upgrade"
	LeaderGone      Pattern = "leader-gone"
	LeaderResigned  Pattern = "leader-resigned"
	EndedByForce    Pattern = "ended-by-force"
	Deleted         Pattern = "deleted"
	NeverLed        Pattern = "never-led"
	LockGone        Pattern = "expected-free"
	WaitsForIdle    Pattern = "owner-idle"
	WaitsForChain   Pattern = "owner-waits"
	WaitsForHead    Pattern = "head-blocks"
	LongWait        Pattern = "long-wait"
	Endless         Pattern = "no-end"
	RenewsLate      Pattern = "renews-late"
	Flapping        Pattern = "flapping"
	PermitsTaken    Pattern = "permits-taken"
	Absent          Pattern = "absent"
	LockTableFull   Pattern = "lock-table-full"
	WrongServer     Pattern = "wrong-server"
	TooMany         Pattern = "too-many"
)

// all lists the patterns in the order of the help.
var all = []Pattern{
	ServerSilent, RecorderSilent, ServerRestarted, ServerSlow, OwnerTogether, TwoOwners,
	Ring, OwnUpgrade, LeaderGone, LeaderResigned, EndedByForce,
	Deleted, NeverLed, LockGone, WaitsForIdle, WaitsForChain,
	WaitsForHead, LongWait, Endless, RenewsLate, Flapping,
	PermitsTaken, Absent, LockTableFull, WrongServer, TooMany,
}

// String is its name.
func (p Pattern) String() string { return string(p) }

// PatternNamed returns the pattern of a name.
func PatternNamed(name string) (Pattern, bool) {
	return Pattern(name), slices.Contains(all, Pattern(name))
}
