package config

import "time"

// history is what is recorded.
func (v *validator) history(f *fileHistory) History {
	h := History{Off: f.Off, File: v.file(f.File), Keep: time.Duration(f.Keep), Full: time.Duration(f.Full), Size: int64(f.Size)}
	if h.Keep > 0 && h.Full > h.Keep {
		v.wrong("history.full", "must not be longer than keep")
	}
	return h
}
