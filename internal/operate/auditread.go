package operate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/action"
	"coordtop/sources"
)

// auditBytes bounds what is read of each file: some 2,000 actions.
const auditBytes = 1 << 20

// AuditEntries reads the newest actions from the audit, those of other programs too, oldest first. It waits
// for a disk.
func (o *Operator) AuditEntries() ([]action.AuditEntry, error) {
	if o.options.Audit == nil {
		return nil, nil
	}
	return o.options.Audit.Entries()
}

// Entries reads the newest actions, as AuditEntries does.
func (l *AuditLog) Entries() ([]action.AuditEntry, error) {
	r := auditReader{log: l}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.entries(), nil
}

// auditReader reads the audit, and each time after that what was appended.
type auditReader struct {
	log    *AuditLog
	list   []action.AuditEntry
	at     map[string]int // index in list, by ID
	file   os.FileInfo    // that was read last; nil: there was none
	offset int64          // up to where it was read
	last   []byte         // the line before that: one that was cut and grew again has another
}

// read reads all of the audit where its file is another one than before, or was cut, else the lines
// behind the last one that was read.
func (r *auditReader) read() error {
	path := r.log.file.path
	if now, err := os.Lstat(path); err == nil && r.file != nil && os.SameFile(now, r.file) && now.Size() >= r.offset {
		text, info, err := lastBytes(path, r.offset-int64(len(r.last)))
		if fresh, same := bytes.CutPrefix(text, r.last); err == nil && os.SameFile(info, r.file) && same && len(r.last) > 0 {
			r.take(fresh, info)
			return nil
		}
	}
	// The current file is opened first: if it is put aside before .1 is opened, the next read finds another
	// file and reads both anew. In the other order the file put aside would never be read.
	text, info, err := lastBytes(path, 0)
	older, put, olderErr := lastBytes(path+".1", 0)
	if err = cmp.Or(err, olderErr); err != nil {
		return fmt.Errorf("reading the audit: %w", err)
	}
	*r = auditReader{log: r.log, at: map[string]int{}}
	r.take(older, put)
	if info != nil {
		r.offset = max(info.Size()-auditBytes, 0)
	}
	r.take(text, info)
	return nil
}

// take adds the actions of the lines that text, which begins at the offset, has of a file. What stands
// behind the last line break is read once more.
func (r *auditReader) take(text []byte, info os.FileInfo) {
	r.file = info
	for line := range bytes.Lines(text) {
		if line[len(line)-1] == '\n' {
			r.offset, r.last = r.offset+int64(len(line)), line
		}
		var record Record
		if json.Unmarshal(line, &record) != nil || record.Stage == Torn {
			continue // the first one may be cut, the last one half written
		}
		i, known := r.at[record.ID]
		if !known {
			i = len(r.list)
			r.at[record.ID], r.list = i, append(r.list, record.entry())
			e := &r.list[i]
			if e.Ours = strings.HasPrefix(record.ID, r.log.run+"-"); !e.Ours && record.Host == r.log.actor.Host {
				e.Process = processOf(&record)
			}
		}
		if record.Stage == After {
			record.addEnd(&r.list[i])
		}
	}
	r.last = bytes.Clone(r.last) // the text may be long
}

// entries are the actions that were read, as they are now.
func (r *auditReader) entries() []action.AuditEntry {
	list := slices.Clone(r.list)
	for i := range list {
		if e := &list[i]; e.Process > 0 && e.Result == "" {
			err := unix.Kill(e.Process, 0)
			e.Runs = err == nil || errors.Is(err, unix.EPERM)
		}
	}
	slices.SortStableFunc(list, func(a, b action.AuditEntry) int { return a.At.Compare(b.At) })
	return list
}

// processOf is the process that wrote a record, by its id (AuditLog.id); 0: it is not known.
func processOf(r *Record) int {
	run := strings.Split(r.ID, "-")
	if len(run) != 3 {
		return 0
	}
	pid, _ := strconv.Atoi(run[1]) // 0 where it is no number
	return max(pid, 0)
}

// entry is what the first line of an action tells, or its only one.
func (r *Record) entry() action.AuditEntry {
	p := action.AuditEntry{ID: r.ID, At: r.At, Written: r.At, Who: r.User + "@" + r.Host, Action: r.Action, Kind: r.Kind, Before: owner(r.OwnerBefore, r.LabelBefore, r.FenceBefore),
		Ref: sources.Ref{Source: r.Source, Space: r.Space, Name: r.Name}, Address: r.Address, Alias: r.Alias, Reason: r.Reason, Call: r.Call, Detail: r.Detail, Recording: r.Recording}
	if r.SSH != "" {
		p.Who += " from " + r.SSH
	}
	if !r.About.IsZero() {
		p.At = r.About
	}
	return p
}

// addEnd adds what the line after an action tells.
func (r *Record) addEnd(p *action.AuditEntry) {
	p.Ended, p.Result, p.Detail, p.After = r.At, r.Result, r.Detail, owner(r.OwnerAfter, r.LabelAfter, r.FenceAfter)
	if r.LatencyMillis != nil {
		p.Took = time.Duration(*r.LatencyMillis * float64(time.Millisecond))
	}
}

func owner(id, label, fence string) sources.OwnerRef {
	n, _ := strconv.ParseUint(fence, 10, 64) // 0 where there is none
	return sources.OwnerRef{ID: id, Label: label, Fence: n}
}

// lastBytes reads a file from an offset on, but at most the last auditBytes. info is nil where there is
// no such file.
func lastBytes(path string, from int64) (text []byte, info os.FileInfo, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, cmp.Or(err, fmt.Errorf("%s is no file", path))
	}
	from = max(info.Size()-auditBytes, from)
	text, err = io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	return text, info, err
}
