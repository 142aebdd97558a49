package kit

import (
	"coordtop/sources"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAClockIsWrongOnlyBeyondWhatTheAnswerTook(t *testing.T) {
	t.Parallel()
	sent := time.Date(2026, 11, 27, 3, 12, 0, 0, time.UTC)
	got := sent.Add(400 * time.Millisecond)
	for ahead, want := range map[time.Duration]string{
		0:                       "differs from ours by less than 200 ms",
		1100 * time.Millisecond: "differs from ours by less than 1.3 s",
		-3 * time.Second:        "is behind ours by 3.0 s, to within 200 ms",
		time.Hour:               "is ahead of ours by 1h00m, to within 200 ms",
	} {
		c := CheckClock(sent.Add(200*time.Millisecond+ahead), sent, got)
		if !strings.Contains(c.Text, want) || (c.Grade == CheckPassed) != (ahead.Abs() < 1200*time.Millisecond) {
			t.Errorf("%v ahead: %v, %s, want %s", ahead, c.Grade, c.Text, want)
		}
	}
}

func TestAnErrorOfALoginOrARightIsARefusal(t *testing.T) {
	t.Parallel()
	c := Contact{Where: "h:1"}
	for f, want := range map[sources.Failure]Grade{
		sources.WrongPassword: CheckRefused, sources.NoSecret: CheckRefused, sources.NotLetIn: CheckRefused, sources.NoRight: CheckRefused,
		sources.NothingListens: CheckFailed, sources.BadCertificate: CheckFailed, sources.NoDatabase: CheckFailed, sources.Other: CheckFailed,
	} {
		if got := GradeOf(errors.Join(c.Problem(f, nil, ""))); got != want {
			t.Errorf("%s: %d, want %d", c.Problem(f, nil, ""), got, want)
		}
	}
}
