package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
)

// mutesName is the file of the mutes, beside the audit.
const mutesName = "mutes.json"

// The actions of the audit that concern mutes.
const (
	acknowledgeAction = "acknowledge"
	muteAction        = "mute"
	unmuteAction      = "unmute"
)

// ErrTooManyMutes reports that the file of the mutes is full.
var ErrTooManyMutes = errors.New("too many problems are muted")

// Mutes keeps the mutes of a person in a file beside the audit, which all boards of the person share. It is safe for
// concurrent use. All methods wait for the disk; of a nil Mutes there is only List, which is empty.
type Mutes struct{ audit *AuditLog }

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
	return &Mutes{audit}
}

func (s *Mutes) path() string { return filepath.Join(filepath.Dir(s.audit.file.path), mutesName) }

// List returns the mutes that have not ended, with those of the Team.
func (s *Mutes) List() ([]mute.Mute, error) {
	if s == nil {
		return nil, nil
	}
	list, err := s.read()
	shared, ended := s.shared()
	list = slices.DeleteFunc(list, func(m mute.Mute) bool { return ended[m.ID] })
	return withShared(list, shared), err
}

// withShared adds the shared mutes that a list does not have.
func withShared(list, shared []mute.Mute) []mute.Mute {
	for _, m := range shared {
		if !slices.ContainsFunc(list, func(has mute.Mute) bool { return has.ID == m.ID }) {
			list = append(list, m)
		}
	}
	return list
}

// shared returns the mutes of the Team that have not ended, and the IDs of those that somebody ended.
func (s *Mutes) shared() (list []mute.Mute, ended map[string]bool) {
	if s.audit.team == nil {
		return nil, nil
	}
	ended = map[string]bool{}
	now := time.Now()
	for _, line := range s.audit.team.Lines() {
		var r Record
		if json.Unmarshal([]byte(line.Line), &r) != nil || r.Mute == nil || r.Mute.ID == "" {
			continue
		}
		switch m := *r.Mute; r.Action {
		case unmuteAction:
			ended[m.ID] = true
		case muteAction, acknowledgeAction:
			if m.By += ", in the store " + line.By; now.Before(m.Until) {
				list = append(list, m)
			}
		}
	}
	return slices.DeleteFunc(list, func(m mute.Mute) bool { return ended[m.ID] }), ended
}

// read returns the mutes in the file that have not ended.
func (s *Mutes) read() ([]mute.Mute, error) {
	const reading = "reading what is muted: "
	if info, err := os.Lstat(s.path()); err == nil && !files.IsOurs(info, 0o600) {
		return nil, fmt.Errorf(reading+"%s is not a file of ours alone, remove it", s.path())
	}
	text, err := lastBytes(s.path())
	if err != nil || len(text) == 0 {
		return nil, err
	}
	var file mutesFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf(reading+"%s is damaged, remove it: %w", s.path(), err)
	}
	now := time.Now()
	return slices.DeleteFunc(file.Mutes, func(m mute.Mute) bool { return !now.Before(m.Until) }), nil
}

// Add writes a line about a mute to the audit, and keeps the mute, with an ID and the person.
func (s *Mutes) Add(ctx context.Context, m mute.Mute) error {
	m.ID, m.By = s.audit.id(), s.audit.actor.String()
	action := muteAction
	if m.Filter == "" {
		action = acknowledgeAction
	}
	return s.act(ctx, action, &m, " until "+m.Until.Local().Format(time.DateTime), func(list []mute.Mute) []mute.Mute { return append(list, m) })
}

// End ends a mute, and writes that to the audit.
func (s *Mutes) End(ctx context.Context, m mute.Mute) error {
	return s.act(ctx, unmuteAction, &m, "", func(list []mute.Mute) []mute.Mute {
		return slices.DeleteFunc(list, func(other mute.Mute) bool { return other.ID == m.ID })
	})
}

// act writes a line to the audit and then changes the file. A change that fails is written to the audit too.
func (s *Mutes) act(ctx context.Context, action string, m *mute.Mute, until string, f func([]mute.Mute) []mute.Mute) error {
	err := s.note(ctx, action, m, until)
	if err != nil {
		return err
	}
	if err = s.change(f); err != nil {
		err = errors.Join(err, s.note(ctx, action, m, ": not done: "+err.Error()))
	}
	return err
}

// Pin keeps the Pins that copies of mutes have, see mute.Pinned. The file then has the mutes of the Team, too.
func (s *Mutes) Pin(copies []mute.Mute) error {
	shared, _ := s.shared()
	return s.change(func(list []mute.Mute) []mute.Mute { return mute.Pinned(withShared(list, shared), copies) })
}

// note writes a line of the audit.
func (s *Mutes) note(ctx context.Context, action string, m *mute.Mute, until string) error {
	text := m.Subject() + until
	if m.Text != "" {
		text += ": " + m.Text
	}
	r := Record{
		ID: s.audit.id(), Stage: Only, Action: action, Detail: text,
		Source: m.Of.Source, Space: m.Of.Space, Name: m.Of.Name,
	}
	if s.audit.team != nil {
		r.Mute = m
	}
	return s.audit.Write(ctx, r)
}

// lockPatience bounds the wait for other boards that change the file.
const lockPatience = 2 * time.Second

// change replaces the file by what f makes of it. Nobody else can change it meanwhile: the folder is locked.
func (s *Mutes) change(f func([]mute.Mute) []mute.Mute) (err error) {
	folder, _, err := files.PrivateFolder(filepath.Dir(s.path()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }() // and with it ends the lock
	if err := lockFile(folder, lockPatience); err != nil {
		return err
	}
	list, err := s.read()
	if err != nil {
		return err
	}
	text, err := format.JSON(mutesFile{1, f(list)}, func(rune) bool { return false })
	if err != nil {
		return err
	}
	if len(text) > auditBytes {
		return fmt.Errorf("%w: end some of them, or mute by a filter", ErrTooManyMutes)
	}
	return files.Replace(folder, mutesName, text)
}
