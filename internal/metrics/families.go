package metrics

import (
	_ "embed"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Rules has alert rules for Prometheus, Dashboard a dashboard for Grafana.
var (
	//go:embed rules.yaml
	Rules string
	//go:embed dashboard.json
	Dashboard string
)

// family is a metric: an entry of the table.
type family int

const (
	sourceUp family = iota
	watchLag
	primitives
	problemRows
	problems
	sourceChanges
	sourceLosses
	hasLeader
	owned
	changes
	losses
	leaderless
	observed
	leaseLeft
	lowestLease
	missed
	waiters
	longestWait
	permitsTaken
	permitsLimit
	problem
	objectiveVacant
	objectiveUnknown
	objectiveBudget
	objectiveBurn
	objectiveBurnUnknown
	objectives
	buildInfo
	standby
	events
	eventsMissed
	series
	seriesDropped
	recording
	recordLag
	recordUnwritten
	recordUnwrittenInputs
	recordLost
	recordHoles
	storeUp
	storeLag
	families
)

// about says what a family is about, and so which labels it has before its own.
type about int

const (
	ofProgram about = iota
	ofSource
	ofRow
)

// labelsOf has the labels of what a family is about.
var labelsOf = [...][]string{
	ofProgram: nil,
	ofSource:  {"source", "backend"},
	ofRow:     {"source", "backend", "kind", "space", "name"},
}

// description describes a family. A name that ends in _total is that of a counter.
type description struct {
	name   string
	of     about
	labels []string // more labels
	help   string
	total  bool
}

// table describes all families.
var table = [families]description{
	sourceUp:      {"source_up", ofSource, nil, "1: all servers of the source answer; 0: one does not. No sample before the first answer or error.", false},
	watchLag:      {"watch_lag_seconds", ofSource, nil, "Time since the last answer of the server of the source that has been silent for longest.", false},
	primitives:    {"primitives", ofSource, []string{"kind"}, "Primitives that are watched.", false},
	problemRows:   {"problem_rows", ofSource, []string{"severity"}, "Primitives with a problem, by the severity of the gravest.", false},
	problems:      {"problems", ofSource, []string{"problem", "severity"}, "Primitives by their gravest problem, see coordtop help problems. No sample: none has it, if problem_rows has samples.", false},
	sourceChanges: {"source_transitions_total", ofSource, nil, "Changes of owner, or of the number of taken permits, that were seen.", true},
	sourceLosses:  {"source_losses_total", ofSource, nil, "Ownerships that were lost: expired, session ended, evicted, restart, or inferred from the gap.", true},

	hasLeader:    {"has_leader", ofRow, nil, "Whether somebody leads the election: 1 or 0.", false},
	owned:        {"owned", ofRow, nil, "Whether somebody owns the mutex: 1 or 0.", false},
	changes:      {"transitions_total", ofRow, nil, "Changes of owner, or of the number of taken permits, that were seen.", true},
	losses:       {"losses_total", ofRow, nil, "Ownerships that were lost: expired, session ended, evicted, restart, or inferred from the gap.", true},
	leaderless:   {"leaderless_seconds_total", ofRow, nil, "Time in which certainly nobody led, or owned what should always have an owner.", true},
	observed:     {"observed_seconds_total", ofRow, nil, "Time of which it is certain whether somebody led. The rest was not observed.", true},
	leaseLeft:    {"lease_left_seconds", ofRow, nil, "Time left of the lease that ends first.", false},
	lowestLease:  {"lease_left_seconds_min", ofRow, nil, "Lowest time left of the lease since the present owner took it.", false},
	missed:       {"missed_renewals", ofRow, nil, "Renewals that are overdue by the owner's own rhythm. No sample: none is known.", false},
	waiters:      {"waiters", ofRow, nil, "Waiters in the queue.", false},
	longestWait:  {"longest_wait_seconds", ofRow, nil, "How long the first waiter has waited.", false},
	permitsTaken: {"permits_taken", ofRow, nil, "Permits of the semaphore that are taken.", false},
	permitsLimit: {"permits_limit", ofRow, nil, "Permits that the semaphore has.", false},
	problem:      {"problem", ofRow, []string{"problem", "severity"}, "1: the primitive has this problem, and no graver one. No sample: it has none, if has_leader, owned or permits_taken has one.", false},

	objectiveVacant:      {"objective_vacant_seconds", ofRow, []string{"objective"}, "How long it is certain that nobody led or owned it, in the time of the objective.", false},
	objectiveUnknown:     {"objective_unknown_seconds", ofRow, []string{"objective"}, "How much longer nobody may have: that was not observed.", false},
	objectiveBudget:      {"objective_budget_seconds", ofRow, []string{"objective"}, "How long nobody may lead or own it, in the time of the objective.", false},
	objectiveBurn:        {"objective_burn", ofRow, []string{"objective"}, "How fast the budget was certainly used in the last hour: at 1 it lasts just as long as the objective.", false},
	objectiveBurnUnknown: {"objective_burn_unknown", ofRow, []string{"objective"}, "How much faster it may have been used: that was not observed.", false},
	objectives:           {"objectives", ofProgram, []string{"objective", "result"}, "Primitives by how they keep an objective: within, missed, not known. An objective that fits nothing counts as one that is not known.", false},

	buildInfo:             {"build_info", ofProgram, []string{"version"}, "1.", false},
	standby:               {"standby", ofProgram, nil, "1: another coordtop records, so that this one shows nothing of its sources; else 0.", false},
	events:                {"events_total", ofProgram, nil, "Events that coordtop has seen.", true},
	eventsMissed:          {"events_missed_total", ofProgram, nil, "Events that are missing in the other counters, because there were too many.", true},
	series:                {"series", ofProgram, nil, "Series with the name of a primitive.", false},
	seriesDropped:         {"series_dropped", ofProgram, nil, "Series with the name of a primitive that are left out, because there are more than metrics.series of the config.", false},
	recording:             {"recorder_up", ofProgram, nil, "1: this coordtop records; 0: it cannot. No sample: another one does.", false},
	recordLag:             {"recorder_lag_seconds", ofProgram, nil, "Time since the recording was last written. It is some two seconds at most.", false},
	recordUnwritten:       {"recorder_unwritten_events", ofProgram, nil, "Events that are not written yet.", false},
	recordUnwrittenInputs: {"recorder_unwritten_inputs", ofProgram, nil, "Inputs that wait in memory until they are written.", false},
	recordLost:            {"recorder_lost_inputs_total", ofProgram, nil, "Inputs that will never be written: a replay has a hole there.", true},
	recordHoles:           {"recorder_holes_total", ofProgram, nil, "Stretches of such inputs.", true},
	storeUp:               {"store_up", ofProgram, nil, "1: the store of the team takes what is recorded; 0: it does not, and what is recorded waits on this machine.", false},
	storeLag:              {"store_lag_seconds", ofProgram, nil, "Age of the latest record in the store of the team. It is some two seconds at most while nothing waits.", false},
}

// name returns the whole name of a family.
func (f family) name() string { return "coordtop_" + table[f].name }

// descriptions returns the table for client_golang.
func descriptions() (list [families]*prometheus.Desc) {
	for f := range table {
		d := &table[f]
		list[f] = prometheus.NewDesc(family(f).name(), d.help, slices.Concat(labelsOf[d.of], d.labels), nil)
	}
	return list
}

// sample is a value of a family.
type sample struct {
	family
	value  float64
	labels []string // shared by the samples of a row or source
	more   []string // values of description.labels
}

// metric returns a sample for client_golang; err is not nil if a label is no UTF-8.
func (s *sample) metric(descs *[families]*prometheus.Desc) (prometheus.Metric, error) {
	kind := prometheus.GaugeValue
	if table[s.family].total {
		kind = prometheus.CounterValue
	}
	return prometheus.NewConstMetric(descs[s.family], kind, s.value, slices.Concat(s.labels, s.more)...)
}
