package headless_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/internal/headless"
	"coordtop/internal/history"
)

func TestTheRecorderIsPrintedAsDocumented(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0).UTC()
	s := &headless.RecorderStatus{
		At: at, Place: "postgres://db/coordtop\x1b", Lag: 400 * time.Millisecond, Last: at,
		Run:   history.Run{Span: history.Span{From: at.Add(-time.Hour), To: at}, ID: 7, Host: "host-7\x1b[31m\xff", PID: 42, Version: "1.2", Live: true},
		Ahead: [2]time.Duration{5 * time.Minute, 5*time.Minute + 300*time.Microsecond}, Measured: true,
		Standby: []string{"host-8 12", "host-9\x1b 13"}, Sources: []string{"leases", "ledger"}, Refused: 3,
		Holes: []headless.Hole{{From: at.Add(-time.Hour - 2*time.Second), To: at.Add(-time.Hour)}},
	}
	for file, format := range map[string]headless.Format{"recorder.txt": headless.Text, "recorder.json": headless.JSON} {
		var out bytes.Buffer
		if err := headless.Recorder(&out, s, format, time.UTC); err != nil {
			t.Error(err)
		}
		golden(t, file, out.Bytes())
		safe(t, out.String())
	}
	for ahead, want := range map[[2]time.Duration]string{
		{2 * time.Second, 3 * time.Second}: "2.0 s ahead of", {-3 * time.Second, -2 * time.Second}: "2.0 s behind", {-time.Second, 9 * time.Second}: "", {1, time.Second}: "",
	} {
		var out bytes.Buffer
		s.Ahead = ahead
		if err := headless.Recorder(&out, s, headless.Text, time.UTC); err != nil || strings.Contains(out.String(), "clock") != (want != "") || !strings.Contains(out.String(), want) {
			t.Errorf("%v ahead: %v\n%s", ahead, err, out.String())
		}
	}
	for _, s := range []*headless.RecorderStatus{{At: at}, {At: at, Last: at}} {
		if err := headless.Recorder(&bytes.Buffer{}, s, headless.Text, time.UTC); !errors.Is(err, headless.ErrNobodyRecords) {
			t.Error(err)
		}
	}
}
