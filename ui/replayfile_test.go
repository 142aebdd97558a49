package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
)

func TestAReplayOfAFileSaysWhereItBeginsAndGoesToItsEnd(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *history.Player) {
		p.Seek(at(5 * time.Minute))
		synctest.Wait()
		d := &driver{model: board(Options{Player: p, Greeting: "The recording is from here to there.", Width: 120, Height: 30})}
		d.shows(t, "The recording is from here to there.")
		d.press("0")
		synctest.Wait()
		second(d.model)
		d.shows(t, "the recording ends here")
		d.shows(t, "this is the end of the recording")
	})
}
