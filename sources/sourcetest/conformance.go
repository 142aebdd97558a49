package sourcetest

import (
	"context"
	"testing"

	"coordtop/sources"
)

// Fixture is one source and its backend. Abilities that are nil are not tested. They are called while no method of the
// source runs or is about to return.
type Fixture struct {
	Source sources.Source
	Change func()               // changes the owner of a watched primitive
	Freeze func() (thaw func()) // the backend does not answer until thaw is called; its connections stay
	Drop   func()               // cuts every connection of the source; the backend stays alive
}

// check is one promise of sources.Source. It returns an error if the promise is broken.
type check struct {
	name  string
	needs func(Fixture) bool
	run   func(context.Context, Fixture) error
}

func checks() []check {
	always := func(Fixture) bool { return true }
	changes := func(f Fixture) bool { return f.Change != nil }
	return []check{
		{"FirstChangeOfEachScopeCarriesTheGap", always, listedFirst(listsWithGapAndSynced)},
		{"PrimitivesAreWellFormed", always, listedFirst(primitivesAreWellFormed)},
		{"NextReturnsSoonWhenNothingHappens", always, listedFirst(nextReturnsSoon)},
		{"ServerIsToldAliveAgainAndAgain", always, listedFirst(aliveGoesOn)},
		{"NothingIsToldAliveWhileTheServerIsFrozen", func(f Fixture) bool { return f.Freeze != nil }, listedFirst(frozenIsNotAlive)},
		{"ChangeOfOwnerIsTold", changes, listedFirst(changeIsTold)},
		{"WhatWasHandedOverNeverChanges", changes, listedFirst(handedOverIsNotChanged)},
		{"CancelledConnectFails", always, cancelledConnectFails},
		{"CancelEndsNext", always, listedFirst(cancelEndsNext)},
		{"CloseMayBeCalledTwice", always, listedFirst(closeTwice)},
		{"CloseJoinsEveryGoroutine", always, closeJoins},
		{"ConnectWorksAgainAfterClose", always, listedFirst(connectsAgain)},
		{"LostConnectionIsAnErrorOrAGap", func(f Fixture) bool { return f.Drop != nil }, listedFirst(lostConnectionIsTold)},
		{"FocusAndRefreshMayBeCalledAtAnyTime", always, focusAtAnyTime},
	}
}

// listedFirst returns a check that reads the whole listing of the source and then calls run.
func listedFirst(run func(context.Context, Fixture, *reader) error) func(context.Context, Fixture) error {
	return func(ctx context.Context, f Fixture) error {
		r, err := listed(ctx, f.Source)
		if err != nil {
			return err
		}
		return run(ctx, f, r)
	}
}

// Run checks every promise of sources.Source, each on a fixture of its own. start prepares a backend (freed by
// t.Cleanup) with at least one watched primitive that stays owned for minutes, and a source of it that is not connected
// yet.
func Run(t *testing.T, start func(t *testing.T) Fixture) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			f := start(t)
			if !c.needs(f) {
				t.Skip("this backend's harness cannot do that")
			}
			t.Cleanup(func() {
				if err := f.Source.Close(); err != nil {
					t.Errorf("Close at the end: %v", err)
				}
			})
			if err := c.run(t.Context(), f); err != nil {
				t.Error(err)
			}
		})
	}
}
