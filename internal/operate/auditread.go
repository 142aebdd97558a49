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
	var list []action.AuditEntry
	at := map[string]int{} // index in list, by ID
	for _, path := range []string{l.file.path + ".1", l.file.path} {
		lines, err := lastLines(path)
		if err != nil {
			return nil, fmt.Errorf("reading the audit: %w", err)
		}
		for line := range bytes.Lines(lines) {
			var r Record
			if json.Unmarshal(line, &r) != nil || r.Stage == Torn {
				continue
			}
			i, known := at[r.ID]
			if !known {
				i = len(list)
				at[r.ID], list = i, append(list, r.entry())
				list[i].Ours = strings.HasPrefix(r.ID, l.run+"-")
				if !list[i].Ours && r.Host == l.actor.Host {
					list[i].Process = processOf(&r)
				}
			}
			if r.Stage == After {
				r.addEnd(&list[i])
			}
		}
	}
	for i := range list {
		if e := &list[i]; e.Process > 0 && e.Result == "" {
			err := unix.Kill(e.Process, 0)
			e.Runs = err == nil || errors.Is(err, unix.EPERM)
		}
	}
	slices.SortStableFunc(list, func(a, b action.AuditEntry) int { return a.At.Compare(b.At) })
	return list, nil
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
		Ref: sources.Ref{Source: r.Source, Space: r.Space, Name: r.Name}, Address: r.Address, Reason: r.Reason, Call: r.Call, Detail: r.Detail, Recording: r.Recording}
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

// lastLines returns the whole lines at the end of a file; none where there is no file.
func lastLines(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s is no file", path))
	}
	from := max(info.Size()-auditBytes, 0)
	text, err := io.ReadAll(io.NewSectionReader(f, from, auditBytes))
	if from > 0 {
		text = text[bytes.IndexByte(text, '\n')+1:] // the first one is cut
	}
	return text, err
}
