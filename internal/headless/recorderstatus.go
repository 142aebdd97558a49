package headless

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
)

// ErrNobodyRecords reports that no recorder writes to a recording.
var ErrNobodyRecords = errors.New("nobody records")

// Hole is a time in which nobody recorded.
type Hole = history.Span

// RecorderStatus says who records, and who stands by.
type RecorderStatus struct {
	At    time.Time
	Place string      // of the recording
	Run   history.Run // that records now; not Live: nobody records
	Lag   time.Duration
	Last  time.Time // of the last write of any run; zero: nothing is recorded

	Ahead    [2]time.Duration // how far the clock of the recorder is ahead of the server's: between the two
	Measured bool             // Ahead is known

	Since   time.Time // of Sources and Holes
	Standby []string
	Sources []string
	Holes   []Hole
	Refused int64
}

// Recorder prints who records. Its error is ErrNobodyRecords, or that of out.
func Recorder(out io.Writer, s *RecorderStatus, f Format, zone *time.Location) (err error) {
	if f == JSON {
		err = writeLine(out, recorderOf(s))
	} else {
		_, err = io.WriteString(out, recorderText(s, zone))
	}
	if err == nil && !s.Run.Live {
		return fmt.Errorf("%w into %s", ErrNobodyRecords, format.Clean(s.Place, maxText))
	}
	return err
}

func recorderText(s *RecorderStatus, zone *time.Location) string {
	var b strings.Builder
	when := func(t time.Time) string { return t.In(zone).Format(time.DateTime) }
	clean := func(text string) string { return format.Clean(text, maxText) }
	names := func(title, none string, list []string) {
		list = each(list, func(name *string) string { return clean(*name) })
		fmt.Fprintf(&b, "%-10s %s\n", title, cmp.Or(format.Some(list, 20), none))
	}
	fmt.Fprintf(&b, "%-10s %s\n", "recording", clean(s.Place))
	switch r := s.Run; {
	case r.Live:
		fmt.Fprintf(&b, "%-10s process %d on %s since %s, run %d, wrote %s ago\n", "recorder", r.PID, clean(r.Host), when(r.From), r.ID, format.Precise(s.Lag))
	case s.Last.IsZero():
		fmt.Fprintf(&b, "%-10s nobody: nothing is recorded\n", "recorder")
	default:
		fmt.Fprintf(&b, "%-10s nobody since %s\n", "recorder", when(s.Last))
	}
	// The bounds are on both sides of zero, or the nearer one is how far the clocks surely differ.
	if by := max(s.Ahead[0], 0) + min(s.Ahead[1], 0); s.Measured && by.Abs() > history.SameClock {
		fmt.Fprintf(&b, "%-10s of the recorder is %s the server's: set it, times in the recording are wrong\n", "clock", format.Offset(by))
	}
	names("standby", "nobody", s.Standby)
	names("sources", "none", s.Sources)
	for _, h := range s.Holes {
		fmt.Fprintf(&b, "%-10s nobody recorded for %s from %s\n", "hole", format.Precise(h.To.Sub(h.From)), when(h.From))
	}
	if s.Refused > 0 {
		fmt.Fprintf(&b, "%-10s %s changes of recorders that had been replaced\n", "refused", format.Count(int(s.Refused)))
	}
	return b.String()
}
