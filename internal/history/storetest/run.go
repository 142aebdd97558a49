package storetest

import "testing"

// Run runs all tests.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Open){
		"ACauseThatIsToldLateMakesNoOtherTerm":          aCauseThatIsToldLateMakesNoOtherTerm,
		"ALaneHasTheKindThatItsPrimitiveHasNow":         aLaneHasTheKindThatItsPrimitiveHasNow,
		"ANewPrimitiveHasNoTermsOfADroppedOne":          aNewPrimitiveHasNoTermsOfADroppedOne,
		"ANewSemaphoreHasNoLevelsOfADroppedOne":         aNewSemaphoreHasNoLevelsOfADroppedOne,
		"APrimitiveThatARunDoesNotWatchIsNotObserved":   aPrimitiveThatARunDoesNotWatchIsNotObserved,
		"ARunWritesNoDarknessOfOthers":                  aRunWritesNoDarknessOfOthers,
		"ASemaphoreThatWasGivenBackIsFreeInAnyWindow":   aSemaphoreThatWasGivenBackIsFreeInAnyWindow,
		"ATermThatEndedLongAgoIsNotTakenUpAgain":        aTermThatEndedLongAgoIsNotTakenUpAgain,
		"AnotherGrantStandsBesideTheFirstAlsoInBlocks":  anotherGrantStandsBesideTheFirstAlsoInBlocks,
		"EventsAreThoseThatAFilterChooses":              eventsAreThoseThatAFilterChooses,
		"LanesOfAScopeShareWhatWasNotObserved":          lanesOfAScopeShareWhatWasNotObserved,
		"TheLastPieceOfARunSaysSo":                      theLastPieceOfARunSaysSo,
		"TheTimeBetweenTwoRunsIsNotObserved":            theTimeBetweenTwoRunsIsNotObserved,
		"TotalsAreThoseOfAnyWindow":                     totalsAreThoseOfAnyWindow,
		"WhatTwoRecordersTellIsOneTerm":                 whatTwoRecordersTellIsOneTerm,
		"WhatWasDroppedIsNotObserved":                   whatWasDroppedIsNotObserved,
		"WhatWasGivenBackBeforeWhatIsKeptDoesNotRun":    whatWasGivenBackBeforeWhatIsKeptDoesNotRun,
		"WhatWasObservedIsWhatTheRunsHaveWritten":       whatWasObservedIsWhatTheRunsHaveWritten,
		"WhatWasWrittenIsRead":                          whatWasWrittenIsRead,
		"WithinAMinuteASemaphoreThatWasGivenBackIsFree": withinAMinuteASemaphoreThatWasGivenBackIsFree,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}
