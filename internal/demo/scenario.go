package demo

import "time"

// Role is what a candidate process does with the primitive it contends for.
type Role string

// The roles.
const (
	RoleLeader Role = "leader" // leads until it is killed
	RoleDeputy Role = "deputy" // leads for a while, proclaims its progress, resigns, comes back
	RoleWorker Role = "worker" // takes a mutex, works for some seconds, releases it
)

// contest is one primitive and the processes that contend for it.
type contest struct {
	key       string
	role      Role
	processes int
	ttl       time.Duration
	killEvery [2]time.Duration // the owner is killed after a time between these; zero: never
}

// contests is the scenario: an election whose leader keeps dying, one that changes
// hands politely, one that is calm, and a mutex.
func contests() []contest {
	return []contest{
		{key: "demo:leader:scheduler", role: RoleLeader, processes: 3, ttl: 6 * time.Second, killEvery: [2]time.Duration{30 * time.Second, 60 * time.Second}},
		{key: "demo:leader:reports", role: RoleDeputy, processes: 2, ttl: 10 * time.Second},
		{key: "demo:leader:billing", role: RoleLeader, processes: 2, ttl: 30 * time.Second},
		{key: "demo:lock:nightly-export", role: RoleWorker, processes: 3, ttl: 5 * time.Second},
	}
}

// redisQuery is the query of a URL that shows exactly this scenario.
const redisQuery = "election=demo:leader:*&mutex=demo:lock:*"
