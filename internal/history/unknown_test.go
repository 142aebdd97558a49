package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// TestDarknessSaysWhyNothingIsKnown has stretches in seconds; 0 as an end: it lasts.
func TestDarknessSaysWhyNothingIsKnown(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	dark := func(from, to float64) sources.Dark {
		d := sources.Dark{From: start.Add(time.Duration(from * float64(time.Second)))}
		if to > 0 {
			d.To = start.Add(time.Duration(to * float64(time.Second)))
		}
		return d
	}
	holes := []Hole{{Dark: dark(10, 20)}, {dark(20, 30), true}, {Dark: dark(40, 50)}, {Dark: dark(90, 0)}}
	for want, list := range map[string][]sources.Dark{
		"":                   nil,
		"not observed 1-9":   {dark(1, 9)},
		"not recorded 12-18": {dark(12, 18)},
		"not observed 5-10, not recorded 10-20, dropped 20-30, not observed 30-35": {dark(5, 35)},
		"dropped 20-30, not observed 60-70, not recorded 90-0":                     {dark(20, 30), dark(60, 70), dark(90, 0)},
		"not recorded 40-50.5":                  {dark(40, 50.5)},
		"not observed 80-90, not recorded 90-0": {dark(80, 0)},
		"not recorded 95-99":                    {dark(95, 99)},
		"not observed 1-2, not observed 3-4":    {dark(1, 2), dark(3, 4)},
	} {
		var got []string
		for _, u := range (&Lane{Holes: holes}).WhyUnknown(list) {
			to := 0.0
			if !u.To.IsZero() {
				to = u.To.Sub(start).Seconds()
			}
			got = append(got, fmt.Sprintf("%v %v-%v", u.Why, u.From.Sub(start).Seconds(), to))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
	if got := (&Lane{}).WhyUnknown([]sources.Dark{dark(5, 0)}); len(got) != 1 || got[0].Why != NotObserved || !got[0].To.IsZero() {
		t.Errorf("what lasts without a recording is %+v", got)
	}
}

func TestWhatIsNotKnownIsSummedUpByItsReason(t *testing.T) {
	t.Parallel()
	minute := func(n int) time.Time { return time.Date(2026, 11, 27, 12, n, 0, 0, time.UTC) }
	piece := func(kind lane.PieceKind, from, to int) lane.Piece {
		return lane.Piece{Span: lane.Span{From: minute(from), To: minute(to)}, Kind: kind}
	}
	l := Lane{Holes: []Hole{{Dark: sources.Dark{From: minute(-9), To: minute(2)}, Dropped: true}, {Dark: sources.Dark{From: minute(2), To: minute(5)}}}}
	sums := l.Unknowns([]lane.Piece{piece(lane.Unrecorded, 0, 6), piece(lane.Owned, 6, 7), piece(lane.Unread, 7, 8), piece(lane.Unobserved, 8, 10)})
	if sums != (Unknowns{NotObserved: 3 * time.Minute, NotRecorded: 3 * time.Minute, Dropped: 2 * time.Minute}) {
		t.Error(sums)
	}
	if got := sums.String(); got != "not observed 3m00s, not recorded 3m00s, dropped 2m00s" {
		t.Error(got)
	}
}

// unread is a recording of which the first question fails.
type unread struct {
	EventReader
	asked *int
}

func (u unread) Dark(context.Context, Span) ([]DarkChange, error) {
	if *u.asked++; *u.asked == 1 {
		return nil, context.Canceled
	}
	return []DarkChange{{Source: "s"}}, nil
}

func TestWhatCouldNotBeReadIsReadAgain(t *testing.T) {
	t.Parallel()
	at, asked := time.Now().Add(-time.Hour), 0
	var h hindsight
	if err := h.read(t.Context(), unread{nil, &asked}, at); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := h.read(t.Context(), unread{nil, &asked}, at); err != nil || len(h.at(at)) != 1 {
		t.Errorf("%v, dark %v", err, h.at(at))
	}
	if err := h.read(t.Context(), unread{nil, &asked}, at.Add(time.Second)); err != nil || asked != 2 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}
