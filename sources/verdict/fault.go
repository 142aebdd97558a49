package verdict

import "slices"

// Fault is a kind of problem.
type Fault uint8

// The faults. Of several faults of equal severity, the first is shown, so that more specific ones stand first.
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

// FaultCount is the number of faults, including None.
const FaultCount = int(faults)

// String returns the name in JSON and for --fail-on, for example "no-leader".
func (f Fault) String() string { return conditions[f].name }

// Chip returns the text after the number of rows that have the fault, for example "without a leader".
func (f Fault) Chip() string { return conditions[f].chip }

// Named returns the fault with a name, or None.
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
