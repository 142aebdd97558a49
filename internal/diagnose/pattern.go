package diagnose

// Pattern is a kind of Finding.
type Pattern uint8

// The patterns.
const (
	ServerSilent Pattern = iota
	ServerRestarted
	ServerSlow
	OwnerTogether
	TwoOwners
	Ring
	OwnUpgrade
	LeaderGone
	LeaderResigned
	EndedByForce
	Deleted
	NeverLed
	LockGone
	WaitsForIdle
	WaitsForChain
	WaitsForHead
	LongWait
	Endless
	RenewsLate
	Flapping
	PermitsTaken
	Absent
	LockTableFull
	WrongServer
	patterns
)

// patternTable describes the patterns: the name in JSON and in the config, and what `help why` says.
var patternTable = [patterns]struct{ name, when string }{
	ServerSilent:    {"server-silent", "a source does not answer; problems that its rows had before are counted under it"},
	ServerRestarted: {"server-restarted", "owners lost what they had because the server was restarted, restarted without its data, or another one answers now"},
	ServerSlow:      {"server-slow", "the renewals of several hosts on one source are late at the same time"},
	OwnerTogether:   {"owner-gone", "one host, or one session, lost several at the same time, or lost one without releasing it"},
	TwoOwners:       {"two-owners", "two own what only one may own"},
	Ring:            {"ring", "sessions wait for each other in a ring that no server breaks by itself"},
	OwnUpgrade:      {"own-upgrade", "a process waits in one session for what it owns in another"},
	LeaderGone:      {"leader-gone", "an election has no leader, and the end of the last one was not told to be wished"},
	LeaderResigned:  {"leader-resigned", "the last leader gave it up, and nobody took it"},
	EndedByForce:    {"ended-by-force", "a person ended the ownership, and nobody took it"},
	Deleted:         {"deleted", "what was owned was deleted"},
	NeverLed:        {"never-led", "nobody has owned it since coordtop watches"},
	LockGone:        {"expected-free", "a lock that the config expects to be owned is free"},
	WaitsForIdle:    {"owner-idle", "somebody waits for an owner whose session does nothing"},
	WaitsForChain:   {"owner-waits", "the owner for which somebody waits is itself waiting for another lock"},
	WaitsForHead:    {"head-blocks", "the first in the queue waits for more than is free, and others behind it could go"},
	LongWait:        {"long-wait", "somebody waits for long, and nothing more is known of the owner"},
	Endless:         {"no-end", "a lock has no TTL and no session that ends it"},
	RenewsLate:      {"renews-late", "an owner renews late"},
	Flapping:        {"flapping", "an election is lost again and again"},
	PermitsTaken:    {"permits-taken", "no permit of a semaphore was free for long while somebody waits"},
	Absent:          {"absent", "a configured lock or semaphore does not exist"},
	LockTableFull:   {"lock-table-full", "advisory locks take most of the lock table of a Postgres server"},
	WrongServer:     {"wrong-server", "a dflockd server has keys that belong to another server of the list"},
}

// String is its name in JSON and in the config.
func (p Pattern) String() string { return patternTable[p].name }

// When says, for people, what it is.
func (p Pattern) When() string { return patternTable[p].when }

// Patterns returns all patterns.
func Patterns() []Pattern {
	all := make([]Pattern, patterns)
	for i := range all {
		all[i] = Pattern(i)
	}
	return all
}

// PatternNamed returns the pattern of a name.
func PatternNamed(name string) (Pattern, bool) {
	for p := range patterns {
		if patternTable[p].name == name {
			return p, true
		}
	}
	return 0, false
}
