package app

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
)

func TestAReplayBeginsWhereTheFirstRowsAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		log := historytest.Hour(t, nil, nil)
		p := history.NewPlayer(t.Context(), log, nil)
		defer p.Close()
		if err := arrive(t.Context(), p, began); err != nil || len(p.State().Rows) > 0 {
			t.Fatalf("there are %d rows before the first answer, %v", len(p.State().Rows), err)
		}
		if err := arriveAtRows(t.Context(), p, began); err != nil || len(p.State().Rows) == 0 || p.Now().Sub(began) > rowsWithin {
			t.Errorf("the replay begins with %d rows %v after the beginning, %v", len(p.State().Rows), p.Now().Sub(began), err)
		}
	})
}
