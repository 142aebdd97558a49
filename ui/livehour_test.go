package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// liveFeed is a Hub as the program shows it, on the clock of the hour.
type liveFeed struct {
	*sources.Hub
	*sources.Subscription
	now     time.Time
	earlier []sources.Event // that were recorded before, and not read yet
}

// Events are those that were recorded before, then those of the Hub.
func (f *liveFeed) Events(int) (events []sources.Event, missed uint64) {
	events, missed = f.Subscription.Events(0)
	events, f.earlier = append(f.earlier, events...), nil
	return events, missed
}

func (f *liveFeed) Now() time.Time { return f.now }

// liveHour records the hour into a file, and returns the frames of a live board at its instants, with
// the times shown.
func liveHour(t *testing.T, path string) (times []time.Time, drawn []map[string][]string) {
	t.Helper()
	instants := []time.Duration{0, historytest.Started} // at which the boards begin
	for _, m := range []float64{0.5, 3, 9.99, 10.003, 10.02, 10.035, 10.05, 10.1, 15, 19.9, 20.03, 20.06, 20.5, 21.9, 22.05, 25, 29.99, 30.05, 35, 39.9, 41.6, 45.25, 49.99, 50.01, 50.2, 59.9} {
		instants = append(instants, time.Duration(m*float64(time.Minute)).Round(time.Millisecond))
	}
	synctest.Test(t, func(t *testing.T) {
		past := sqlite.NewReader(path)
		var feed *liveFeed
		var m *model
		historytest.Recorded(t, &recordtest.Recorder{Path: path}, instants, func(hub *sources.Hub, now time.Time) {
			if feed == nil || feed.Hub != hub {
				earlier, _ := history.Earlier(t.Context(), past, now) // at first there is no file
				feed = &liveFeed{hub, hub.Subscribe(0), now, earlier}
				was := m
				if m = board(Options{Feed: feed, History: past, Width: liveWidth, Height: liveHeight}); was != nil {
					m.Time.Step = was.Time.Step // a replay goes on with the columns that were asked for
				}
			}
			feed.now = now
			times, drawn = append(times, now), append(drawn, frames(m))
		})
		if err := past.Close(); err != nil {
			t.Error(err)
		}
	})
	return times, drawn
}

const liveWidth, liveHeight = 160, 47
