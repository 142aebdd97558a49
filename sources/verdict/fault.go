package verdict

import "slices"

// Fault is a kind of problem.
type Fault uint8

// The faults, those before the others that say more where several are equally grave.
const (
	None Fault = iota
	TwoOwners
	NoLeader
	Absent
	NoTTL
	LongWait
	Late
	Full
	Flapping
	Stale
	faults
)

// FaultCount is the number of faults, None included.
const FaultCount = int(faults)

// String is its name in JSON and for --fail-on, as "no-leader".
func (f Fault) String() string { return conditions[f].name }

// Chip is the text behind the number of rows that have the fault, as "without a leader".
func (f Fault) Chip() string { return conditions[f].chip }

// Named returns the fault of a name; None: there is none.
func Named(name string) Fault { return Fault(max(slices.Index(Names(), name)+1, 0)) }

// Names returns the names of all faults.
func Names() []string {
	names := make([]string, 0, faults)
	for f := range conditions[1:] {
		names = append(names, conditions[f+1].name)
	}
	return names
}

// Faults is a set of faults.
type Faults uint16

// Any is the set of all faults.
const Any Faults = 1<<faults - 1<<1

// Has reports whether a fault is in the set.
func (s Faults) Has(f Fault) bool { return s&(1<<f) != 0 }
