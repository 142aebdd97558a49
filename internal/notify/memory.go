package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"coordtop/internal/ground/files"
)

// mostMemory bounds the file.
const mostMemory = 16 << 20

// memory is what the file has.
type memory struct {
	V     int                 `json:"v"`
	Rules map[string][]*cause `json:"rules"`
}

// forgetAfter is the time after which a cause is forgotten at a restart: its source, or its rule, may be gone.
const forgetAfter = 30 * 24 * time.Hour

// restore takes the causes that an earlier run told, and returns the messages that it did not deliver.
func (t *Tracker) restore(causes []*cause) (due []Message) {
	for _, c := range causes[:min(len(causes), mostCauses)] {
		c.told = true
		t.causes = append(t.causes, c)
		if at := c.Began; c.Due != "" {
			if c.Due == Ended {
				at = c.Gone
			}
			due = append(due, c.message(at))
		}
	}
	return due
}

// snapshot returns the causes that were told.
func (t *Tracker) snapshot() []*cause {
	t.changed = false
	return slices.DeleteFunc(slices.Clone(t.causes), func(c *cause) bool { return !c.told })
}

// readMemory reads the file. A file that is not there is an empty one.
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

// write replaces the file: a reader sees the old one or the new one, also after a crash.
func (m *memory) write(path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing what was notified: %w", err)
		}
	}()
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	folder, _, err := files.PrivateFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	f, err := files.OpenPrivate(folder, filepath.Base(path)+".new", os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
