package relayed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// Sleeper is a Source that does not connect before Awake.
type Sleeper struct {
	sources.Source
	awake atomic.Bool
}

// errAsleep wraps sources.ErrRefused, so that Connect is not tried again soon.
var errAsleep = failure.With(errors.New("this board connects to it only to act"), sources.ErrRefused)

// Awake lets the Source connect from now on. It reports whether it could not before.
func (s *Sleeper) Awake() bool { return !s.awake.Swap(true) }

// Connect connects the Source if it may.
func (s *Sleeper) Connect(ctx context.Context) error {
	if !s.awake.Load() {
		return errAsleep
	}
	return s.Source.Connect(ctx)
}

// Refresh passes the wish on, so that a Sleeper is a sources.Refresher.
func (s *Sleeper) Refresh() {
	if r, ok := s.Source.(sources.Refresher); ok && s.awake.Load() {
		r.Refresh()
	}
}

// lookWithin bounds the time until a source that was asleep shows what it has.
const lookWithin = 10 * time.Second

// Operator acts on the rows of a Feed, once the server has shown them to this board itself.
type Operator struct {
	*operate.Operator
	feed     *Feed
	sleepers map[string]*Sleeper // by the name of the source
}

// NewOperator returns an Operator. acts has the View of the Feed, over sleepers.
func NewOperator(acts *operate.Operator, feed *Feed, sleepers map[string]*Sleeper) *Operator {
	return &Operator{acts, feed, sleepers}
}

// Choices lists the actions for a row. At the first call, the source of the row wakes up; until it has shown the row,
// nothing is possible.
func (o *Operator) Choices(row *sources.Row) []action.Choice {
	if row == nil {
		return nil
	}
	own, not := o.own(row)
	if own != nil {
		return o.Operator.Choices(own)
	}
	list := o.Operator.Choices(row)
	for i := range list {
		if !action.Of(list[i].Verb).GivesUp {
			list[i].Not = not
		}
	}
	return slices.Clip(list)
}

// NotEnded returns why the ownership or wait in t cannot be ended by force; "": it can.
func (o *Operator) NotEnded(row *sources.Row, t action.Target) string {
	own, not := o.own(row)
	if own == nil {
		return not
	}
	return o.Operator.NotEnded(own, t)
}

// Start waits until the source has shown what it has, and starts the action, see operate.Operator.Start.
func (o *Operator) Start(r action.Request) (id uint64, err error) {
	source := r.Target.Ref.Source
	if !action.Of(r.Verb).GivesUp {
		if not := o.awake(source); not != "" {
			return 0, fmt.Errorf("%w: %s", operate.ErrNotPossible, not)
		}
		if !o.listed(source) {
			return 0, fmt.Errorf("%w: %s", operate.ErrNotPossible, o.waits(source))
		}
	}
	return o.Operator.Start(r)
}

// awake wakes a source. It returns the reason why nothing can be done to it, if the config has another server under its
// name, or none.
func (o *Operator) awake(source string) (not string) {
	name := format.Clean(source, 100)
	theirs, ok := statusOf(o.feed.State(), source)
	ours, has := statusOf(o.feed.own.State(), source)
	switch {
	case !has:
		return "the config of this board has no source " + name + ": add it, with its address and login"
	case ok && (ours.Type != theirs.Type || ours.Address != theirs.Address):
		return fmt.Sprintf("the config of this board has %s at %s, and the recorder has it at %s: give both the same address", name, format.Clean(ours.Address, 100), format.Clean(theirs.Address, 100))
	}
	if o.sleepers[source].Awake() {
		o.feed.own.Refresh(source)
	}
	return ""
}

// own wakes the source of a row, and returns the row as the source shows it; nil: it does not, for the reason not.
func (o *Operator) own(row *sources.Row) (own *sources.Row, not string) {
	if not = o.awake(row.Source); not != "" {
		return nil, not
	}
	if own = o.feed.seen(o.feed.own.State(), row); own != nil {
		return own, ""
	}
	if !o.feed.selects(row.Primitive) {
		return nil, "this board looks at the server itself before it acts, and its config leaves this out: see `watch` of " + format.Clean(row.Source, 100)
	}
	return nil, o.waits(row.Source)
}

// waits returns the reason why an awake source shows nothing by itself.
func (o *Operator) waits(source string) string {
	if s, _ := statusOf(o.feed.own.State(), source); s.Err != nil && !strings.Contains(s.Err.Error(), errAsleep.Error()) {
		return "this board looks at the server itself before it acts, and cannot: " + format.Clean(s.Err.Error(), 200)
	}
	return "this board looks at the server itself before it acts: it has not answered yet"
}

// listed waits until a source has shown all it has, and reports whether it has.
func (o *Operator) listed(source string) bool {
	own := o.feed.own
	sub := own.Subscribe(own.State().LastSeq)
	defer sub.Close()
	limit := time.NewTimer(lookWithin)
	defer limit.Stop()
	for {
		s := own.State()
		status, _ := statusOf(s, source)
		if status.Health == sources.HealthLive && !slices.ContainsFunc(s.Scopes, func(c sources.Scope) bool { return c.Source == source && !c.Synced }) {
			return true
		}
		select {
		case <-sub.Wake():
		case <-limit.C:
			return false
		}
	}
}

func statusOf(s *sources.State, source string) (sources.SourceStatus, bool) {
	i := slices.IndexFunc(s.Sources, func(f sources.SourceStatus) bool { return f.Name == source })
	if i < 0 {
		return sources.SourceStatus{}, false
	}
	return s.Sources[i], true
}
