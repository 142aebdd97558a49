package history

import (
	"time"

	"coordtop/sources"
)

// Batch is one write of a recorder: what happened since the write before, some 300 ms ago.
type Batch struct {
	Keyframe []byte    // begins a group, encoded; nil: the group of the last Batch goes on
	Inputs   []byte    // encoded, those of Seq first to last
	Seq      [2]uint64 // with a Keyframe the first is that of the last Input in it
	Count    int
	Thin     bool // the renewals were left out of the group that a Keyframe begins
	Follows  bool // it follows the one before without a hole
	Span     Span // from the first to the last Input, and where nothing happened up to now

	Lanes  []LaneChange
	Events []sources.Event // without renewals
	Dark   []DarkChange
	Lost   []Span // when events were missed: of no primitive is it known what happened then
}

// LaneChange is what is new of one primitive.
type LaneChange struct {
	Ref    sources.Ref
	Kind   sources.Kind
	Scope  string          // under which it is
	Terms  []sources.Term  // begun, changed or ended since the last Batch
	Levels []sources.Level // begun or changed
	Gone   bool            // the row is gone: nothing is known of it from At on, and what still runs was over by then
	At     time.Time       // of Gone
}

// DarkChange is a stretch without observation of a scope, or of one row of it, that began or
// ended.
type DarkChange struct {
	Source, Scope string
	Ref           sources.Ref // of one row; with an empty Source: of the whole scope
	Dark          sources.Dark
}
