package sourcetest

import (
	"testing"

	"coordtop/sources"
)

// Harness lets the suite run against one kind of backend.
type Harness struct {
	// New prepares a backend of its own (freed by t.Cleanup) and a source on it that
	// is not connected yet. The backend holds at least one primitive with an owner.
	New func(t *testing.T) Fixture
}

// Fixture is one source and its backend. Abilities that are nil are not tested.
type Fixture struct {
	Source sources.Source
	Change func()             // changes the owner of a watched primitive
	Freeze func() (thaw func()) // the backend answers nothing until thaw
	Drop   func()             // cuts every connection of the source, the backend lives on
}

// Run checks every promise of sources.Source.
func Run(t *testing.T, h Harness) {}
