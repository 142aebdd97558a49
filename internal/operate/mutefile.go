package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
)

// mutesName is the file of the mutes, beside the audit; with newSuffix it is being written.
const (
	mutesName = "mutes.json"
	newSuffix = ".new"
)

// The actions of the audit that concern mutes.
const (
	acknowledgeAction = "acknowledge"
	muteAction        = "mute"
	unmuteAction      = "unmute"
)

// ErrTooManyMutes reports that the file of the mutes is full.
var ErrTooManyMutes = errors.New("too many problems are muted")

// Mutes keeps the mutes of a person in a file beside the audit, which all boards of the person share. It is safe for
// concurrent use. All methods wait for the disk; a nil Mutes is empty, and keeps nothing.
type Mutes struct {
	audit *AuditLog

	mu   sync.Mutex
	seen os.FileInfo // of the file that list was read from; nil: none was
	list []mute.Mute
}

// mutesFile is the contents of the file.
type mutesFile struct {
	V     int         `json:"v"`
	Mutes []mute.Mute `json:"mutes"`
}

// NewMutes returns the mutes in the folder of an audit; nil without one.
func NewMutes(audit *AuditLog) *Mutes {
	if audit == nil {
		return nil
	}
	return &Mutes{audit: audit}
}

func (s *Mutes) path() string { return filepath.Join(filepath.Dir(s.audit.file.path), mutesName) }

// List returns the mutes that have not ended. It reads the file only if that has changed.
func (s *Mutes) List() ([]mute.Mute, error) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := os.Lstat(s.path())
	if errors.Is(err, os.ErrNotExist) {
		s.seen, s.list = nil, nil
		return nil, nil
	}
	if err == nil && (s.seen == nil || !os.SameFile(now, s.seen) || now.Size() != s.seen.Size() || !now.ModTime().Equal(s.seen.ModTime())) {
		var list []mute.Mute
		if list, err = s.read(); err == nil {
			s.seen, s.list = now, list
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is muted: %w", err)
	}
	return unended(s.list, time.Now()), nil
}

// read reads the file.
func (s *Mutes) read() ([]mute.Mute, error) {
	text, err := lastBytes(s.path())
	if err != nil || len(text) == 0 {
		return nil, err
	}
	var file mutesFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s is damaged, remove it: %w", s.path(), err)
	}
	return file.Mutes, nil
}

func unended(list []mute.Mute, now time.Time) []mute.Mute {
	return slices.DeleteFunc(slices.Clone(list), func(m mute.Mute) bool { return !now.Before(m.Until) })
}

// Add writes a line about a mute to the audit, and keeps the mute, with an ID and the person.
func (s *Mutes) Add(ctx context.Context, m mute.Mute) error {
	if s == nil {
		return fmt.Errorf("%w: set XDG_STATE_HOME, or HOME", errNoFolder)
	}
	m.ID, m.By = s.audit.id(), s.audit.actor.String()
	m.Text, _ = format.UTF8([]byte(m.Text))
	m.Filter, _ = format.UTF8([]byte(m.Filter))
	what := muteAction
	if m.Filter == "" {
		what = acknowledgeAction
	}
	if err := s.note(ctx, &m, what); err != nil {
		return err
	}
	return s.change(func(list []mute.Mute) []mute.Mute { return append(list, m) })
}

var errNoFolder = errors.New("there is no folder to keep it in")

// End ends a mute, and writes that to the audit.
func (s *Mutes) End(ctx context.Context, m mute.Mute) error {
	if s == nil {
		return nil
	}
	if err := s.note(ctx, &m, unmuteAction); err != nil {
		return err
	}
	return s.change(func(list []mute.Mute) []mute.Mute {
		return slices.DeleteFunc(list, func(other mute.Mute) bool { return other.ID == m.ID })
	})
}

// Pin keeps what mutes cover for the first time, see mute.Decision.
func (s *Mutes) Pin(fresh map[string][]mute.Pin) error {
	if s == nil {
		return nil
	}
	return s.change(func(list []mute.Mute) []mute.Mute { return mute.Pinned(list, fresh) })
}

// note writes a line of the audit.
func (s *Mutes) note(ctx context.Context, m *mute.Mute, what string) error {
	r := Record{ID: s.audit.id(), Stage: Only, Action: what, Detail: m.Subject()}
	if len(m.Pins) == 1 && m.Filter == "" {
		at := m.Pins[0].Ref()
		r.Source, r.Space, r.Name = at.Source, at.Space, at.Name
	}
	if what != unmuteAction {
		r.Detail += " until " + m.Until.Local().Format(time.DateTime)
	}
	if m.Text != "" {
		r.Detail += ": " + m.Text
	}
	return s.audit.Write(ctx, r)
}

// change replaces the file by what f makes of it. Another process cannot change it meanwhile: the folder is locked.
func (s *Mutes) change(f func([]mute.Mute) []mute.Mute) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	folder, _, err := files.PrivateFolder(filepath.Dir(s.path()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }() // and with it ends the lock
	if err := lockFile(folder); err != nil {
		return err
	}
	list, err := s.read()
	if err != nil {
		return err
	}
	text, err := format.JSON(mutesFile{1, f(unended(list, time.Now()))}, func(rune) bool { return false })
	if err != nil {
		return err
	}
	if len(text) > auditBytes {
		return fmt.Errorf("%w: end some of them, or mute by a filter", ErrTooManyMutes)
	}
	return replace(folder, mutesName, text)
}

// replace writes a file of a folder anew: whole or not at all.
func replace(folder *os.File, name string, text []byte) error {
	f, err := files.OpenPrivate(folder, name+newSuffix, unix.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := unix.Renameat(int(folder.Fd()), name+newSuffix, int(folder.Fd()), name); err != nil {
		return fmt.Errorf("replacing %s: %w", name, err)
	}
	return folder.Sync()
}
