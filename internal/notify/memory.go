package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"coordtop/internal/ground/files"
)

// mostMemory bounds the file.
const mostMemory = 16 << 20

// memory is the content of the file.
type memory struct {
	V     int                 `json:"v"`
	Rules map[string][]*cause `json:"rules"`
}

// forgetAfter is the time after which a cause is forgotten at a restart: its source, or its rule, may be gone.
const forgetAfter = 30 * 24 * time.Hour

// restore takes the causes that an earlier run told.
func (t *Tracker) restore(causes []*cause) {
	t.causes = causes[:min(len(causes), mostCauses)]
	for _, c := range t.causes {
		c.told = true
	}
}

// snapshot returns the causes that a receiver knows of, or that were counted. One that it did not take yet is found
// again after a restart.
func (t *Tracker) snapshot() []*cause {
	return slices.DeleteFunc(slices.Clone(t.causes), func(c *cause) bool {
		return !c.told || c.pending.Load() && c.Gone.IsZero() && c.Again.IsZero()
	})
}

// readMemory reads the file. A file that is not there, or has no path, is an empty one.
func readMemory(ctx context.Context, path string) (m memory, err error) {
	data, _, err := files.Read(ctx, path, mostMemory)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil && m.V != 1 {
		err = errors.New("it is of another coordtop")
	}
	if err != nil {
		return memory{}, fmt.Errorf("reading what was notified: %w", err)
	}
	for rule, causes := range m.Rules {
		m.Rules[rule] = slices.DeleteFunc(causes, func(c *cause) bool {
			return c == nil || len(c.Keys) == 0 || time.Since(c.Began) > forgetAfter
		})
	}
	maps.DeleteFunc(m.Rules, func(_ string, causes []*cause) bool { return len(causes) == 0 })
	return m, nil
}

// writeMemory replaces the file.
func writeMemory(path string, data []byte) error {
	folder, _, err := files.PrivateFolder(filepath.Dir(path))
	if err == nil {
		err = errors.Join(files.Replace(folder, filepath.Base(path), data), folder.Close())
	}
	if err != nil {
		return fmt.Errorf("writing what was notified: %w", err)
	}
	return nil
}
