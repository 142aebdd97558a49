package headless

import "time"

// Recorder prints one object: who records, since when, and who stands by.
//
//	v           1
//	at          when the recording was read
//	recording   its file or its store
//	recorder    who records now, null: nobody
//	  run         number of the run
//	  host, pid, version
//	  since       when it began
//	  lag_ms      how long ago it wrote: by the clock of the server of a store
//	  clock_ahead_ms
//	              {"min","max"}: how far its clock is ahead of the server's;
//	              null: it was not measured, or the recording is a file
//	last        when a run last wrote, null: nothing is recorded
//	standby     the names of recorders that stand by for it in the store
//	sources     what was recorded in the time of --since, by name
//	holes       when nobody recorded in that time, oldest first:
//	  from, until, lasted_ms
//	refused     how many changes the store has refused, in all, because another
//	            recorder had replaced the one that sent them
type recorderJSON struct {
	V         int            `json:"v"`
	At        *string        `json:"at"`
	Recording string         `json:"recording"`
	Recorder  *recordingJSON `json:"recorder"`
	Last      *string        `json:"last"`
	Standby   []string       `json:"standby"`
	Sources   []string       `json:"sources"`
	Holes     []holeJSON     `json:"holes"`
	Refused   int64          `json:"refused"`
}

type recordingJSON struct {
	Run     int64      `json:"run"`
	Host    string     `json:"host"`
	PID     int        `json:"pid"`
	Version string     `json:"version"`
	Since   *string    `json:"since"`
	Lag     int64      `json:"lag_ms"`
	Ahead   *aheadJSON `json:"clock_ahead_ms"`
}

type aheadJSON struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

type holeJSON struct {
	From   *string `json:"from"`
	Until  *string `json:"until"`
	Lasted int64   `json:"lasted_ms"`
}

func recorderOf(s *RecorderStatus) recorderJSON {
	texts := func(list []string) []string { return each(list, func(name *string) string { return text(*name) }) }
	j := recorderJSON{V: version, At: instant(s.At), Recording: text(s.Place), Last: instant(s.Last), Standby: texts(s.Standby), Sources: texts(s.Sources), Refused: s.Refused,
		Holes: each(s.Holes, func(h *Hole) holeJSON {
			return holeJSON{instant(h.From), instant(h.To), h.To.Sub(h.From).Milliseconds()}
		})}
	if r := s.Run; r.Live {
		j.Recorder = &recordingJSON{Run: r.ID, Host: text(r.Host), PID: r.PID, Version: text(r.Version), Since: instant(r.From), Lag: s.Lag.Milliseconds()}
		if s.Measured {
			j.Recorder.Ahead = &aheadJSON{s.Ahead[0].Milliseconds(), int64((s.Ahead[1] + time.Millisecond - 1) / time.Millisecond)}
		}
	}
	return j
}
