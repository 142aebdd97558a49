package app

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
)

func TestReplayStaysWithinTheRecordingAndSaysSo(t *testing.T) {
	t.Parallel()
	day := func(d, hour, minute int) time.Time { return time.Date(2026, 11, d, hour, minute, 0, 0, time.Local) }
	noon := history.Span{From: day(22, 10, 0), To: day(22, 12, 0)}
	night := history.Span{From: day(21, 22, 0), To: day(22, 2, 0)}
	for _, c := range []struct {
		recorded history.Span
		at       string
		want     time.Time
		says     string
	}{
		{noon, "11:30", day(22, 11, 30), "at the time of --at"},
		{noon, "12:31", day(22, 12, 0), "at its end, since --at is behind it"},
		{noon, "23:59", day(22, 12, 0), "behind it"},
		{noon, "2026-11-22 12:31", day(22, 12, 0), "behind it"},
		{noon, "2027-01-01", day(22, 12, 0), "behind it"},
		{noon, "09:00", day(22, 10, 0), "at its beginning, since --at is before it"},
		{noon, "2026-11-21", day(22, 10, 0), "before it"},
		{noon, "5h", day(22, 10, 0), "before it"},
		{noon, "30m", day(22, 11, 30), "at the time"},
		{noon, "10:00", day(22, 10, 0), "at the time"},
		{noon, "12:00", day(22, 12, 0), "at the time"},
		{night, "23:00", day(21, 23, 0), "at the time"},
		{night, "01:00", day(22, 1, 0), "at the time"},
		{night, "02:30", day(22, 2, 0), "behind it"},
	} {
		from, where, err := atOf(c.at, c.recorded)
		if err != nil || !from.Equal(c.want) || !strings.Contains(where, c.says) {
			t.Errorf("--at %q goes to %v, %q, %v; want %v, %q", c.at, from, where, err, c.want, c.says)
		}
	}
	if _, _, err := atOf("soon", noon); err == nil {
		t.Error("what is no time is one")
	}
	if said, zone := fromTo(noon), noon.To.Format("MST"); !strings.HasSuffix(said, zone) {
		t.Errorf("%q does not name the zone %s", said, zone)
	}
}

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
