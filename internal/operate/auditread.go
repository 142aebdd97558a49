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

// auditBytes is the most bytes that are read of each file, some 2,000 actions.
const auditBytes = 1 << 20

// Entries reads the newest actions from the audit, including those of other programs, oldest first. A nil AuditLog has
// none. It waits for the disk.
func (l *AuditLog) Entries() ([]action.AuditEntry, error) {
	if l == nil {
		return nil, nil
	}
	// The current file is read first: in the other order, a file that is put aside between the two reads
	// would be missed. An action that is read twice counts once.
	text, err := lastBytes(l.file.path)
	older, olderErr := lastBytes(l.file.path + ".1")
	if err = cmp.Or(err, olderErr); err != nil {
		return nil, fmt.Errorf("reading the audit: %w", err)
	}
	var list []action.AuditEntry
	at := map[string]int{} // index in list, by ID
	for line := range bytes.Lines(append(older, text...)) {
		var r Record
		if json.Unmarshal(line, &r) != nil || r.Stage == Torn {
			continue // the first line may be cut, the last one incomplete
		}
		if _, known := at[r.ID]; !known {
			at[r.ID], list = len(list), append(list, l.entry(&r))
		}
		if r.Stage == After {
			r.addEnd(&list[at[r.ID]])
		}
	}
	for i := range list {
		if e := &list[i]; e.Process > 0 && e.Result == "" {
			err := unix.Kill(e.Process, 0)
			e.Runs = err == nil || errors.Is(err, unix.EPERM)
		}
	}
	if l.team != nil {
		list = l.shared(list, at)
	}
	slices.SortStableFunc(list, func(a, b action.AuditEntry) int { return a.At.Compare(b.At) })
	return list, nil
}

// shared adds the actions of the Team that list lacks. has are the indexes of list, by ID.
func (l *AuditLog) shared(list []action.AuditEntry, has map[string]int) []action.AuditEntry {
	at := map[string]int{}
	for _, line := range l.team.Lines() {
		var r Record
		if json.Unmarshal([]byte(line.Line), &r) != nil || r.ID == "" || r.Stage == Torn {
			continue // it is not of a coordtop
		}
		if i, known := has[r.ID]; known {
			list[i].Recording = ""
			continue
		}
		if _, known := at[r.ID]; !known {
			e := r.entry()
			e.Recording = ""
			e.Who += ", in the store " + line.By
			e.Ours = strings.HasPrefix(r.ID, l.run+"-")
			at[r.ID], list = len(list), append(list, e)
		}
		if r.Stage == After {
			r.addEnd(&list[at[r.ID]])
		}
	}
	return list
}

// entry returns an entry for the first line of an action, with its process if that runs on this machine.
func (l *AuditLog) entry(r *Record) action.AuditEntry {
	e := r.entry()
	if e.Ours = strings.HasPrefix(r.ID, l.run+"-"); !e.Ours && r.Host == l.actor.Host {
		e.Process = processOf(r)
	}
	return e
}

// processOf returns the process that wrote a record, from the record's id (AuditLog.id); 0 if it is not known.
func processOf(r *Record) int {
	run := strings.Split(r.ID, "-")
	if len(run) != 3 {
		return 0
	}
	pid, _ := strconv.Atoi(run[1]) // 0 if it is not a number
	return max(pid, 0)
}

// entry returns an entry for the first or only line of an action.
func (r *Record) entry() action.AuditEntry {
	p := action.AuditEntry{ID: r.ID, At: r.At, Written: r.At, Who: Actor{r.User, r.Host, r.SSH}.String(), Action: r.Action, Kind: r.Kind, Before: owner(r.OwnerBefore, r.LabelBefore, r.FenceBefore),
		Ref: sources.Ref{Source: r.Source, Space: r.Space, Name: r.Name}, Address: r.Address, Alias: r.Alias, Reason: r.Reason, Call: r.Call, Detail: r.Detail, Recording: r.Recording}
	if !r.About.IsZero() {
		p.At = r.About
	}
	return p
}

// addEnd adds the result in the second line of an action to an entry.
func (r *Record) addEnd(p *action.AuditEntry) {
	p.Ended, p.Result, p.Detail, p.After = r.At, r.Result, r.Detail, owner(r.OwnerAfter, r.LabelAfter, r.FenceAfter)
	if r.LatencyMillis != nil {
		p.Took = time.Duration(*r.LatencyMillis * float64(time.Millisecond))
	}
}

func owner(id, label, fence string) sources.OwnerRef {
	n, _ := strconv.ParseUint(fence, 10, 64) // 0 without a fence
	return sources.OwnerRef{ID: id, Label: label, Fence: n}
}

// lastBytes reads the last auditBytes of a file, if there is one.
func lastBytes(path string) ([]byte, error) {
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
	return io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
}
