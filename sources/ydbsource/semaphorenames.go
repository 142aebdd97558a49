package ydbsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/lazy"
	"coordtop/sources"
)

// mostNames is the maximum number of semaphores that a source may name.
const mostNames = 100_000

// numbers matches a range of numbers in a name, for example {0..9}.
var numbers = lazy.Regexp(`\{(\d{1,9})\.\.(\d{1,9})\}`)

// expand returns the names that a pattern stands for. Each range such as {0..9} is replaced by each of its numbers,
// with at least as many digits as the first one has. Other braces are part of the name. \* is a star.
func expand(pattern string) ([]string, error) {
	if strings.Contains(strings.ReplaceAll(pattern, `\*`, ""), "*") {
		return nil, errors.New("YDB lists no semaphores, so no name is found by a *: write whole names, " +
			`as job-{0..9}, or a file of them (semaphores_file); a * in a name itself as \*`)
	}
	names := []string{strings.ReplaceAll(pattern, `\*`, "*")}
	for {
		all := numbers().FindAllStringSubmatchIndex(names[0], -1)
		if len(all) == 0 {
			break
		}
		at := all[len(all)-1] // the last range first, because the text before it is the same in all names
		first, last := names[0][at[2]:at[3]], names[0][at[4]:at[5]]
		from, _ := strconv.Atoi(first) // at most nine digits
		to, _ := strconv.Atoi(last)
		if n := to - from + 1; n < 1 || n > mostNames/len(names) {
			return nil, fmt.Errorf("{%s..%s} in the name of a semaphore: from the smaller to the larger number, at most %d names", first, last, mostNames)
		}
		var more []string
		for _, name := range names {
			for i := from; i <= to; i++ {
				more = append(more, name[:at[0]]+fmt.Sprintf("%0*d", len(first), i)+name[at[1]:])
			}
		}
		names = more
	}
	for _, name := range names {
		if err := ydbcoord.CheckName(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// expandAll returns one selection for each name that s stands for.
func expandAll(s Selection) ([]Selection, error) {
	names, err := expand(s.Pattern)
	list := make([]Selection, len(names))
	for i, name := range names {
		list[i] = s
		list[i].Pattern = name
	}
	return list, err
}

// namesOf parses a list of names, one in each line. It ignores empty lines and those that begin with #.
func namesOf(text string) ([]string, error) {
	var list []string
	for i, line := range slices.Collect(strings.Lines(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		names, err := expand(line)
		if err == nil && len(list)+len(names) > mostNames {
			err = fmt.Errorf("more than %d names", mostNames)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		list = append(list, names...)
	}
	return list, nil
}

// NameFile is a file of names of semaphores, one in each line, in the form of Selection.Pattern. Empty lines and those
// that begin with # are ignored.
type NameFile struct {
	Path     string
	Node     string // like Selection.Node
	Expected bool   // every semaphore of the file must always have an owner
}

const (
	longestFile = 16 << 20
	readAgain   = time.Second // pause between two checks whether a file has changed
)

// nameFile is a NameFile with its content as last read.
type nameFile struct {
	NameFile
	size     int64
	modified time.Time
	names    []string
	err      error // the error of the last reading; the names are from an earlier one
}

// read reads the file if it has changed, and reports whether it has.
func (f *nameFile) read(ctx context.Context) bool {
	info, err := os.Stat(f.Path)
	if err == nil && f.err == nil && info.Size() == f.size && info.ModTime().Equal(f.modified) {
		return false
	}
	data, _, err := files.Read(ctx, f.Path, longestFile)
	var names []string
	if err == nil {
		names, err = namesOf(string(data))
	}
	if info != nil {
		f.size, f.modified = info.Size(), info.ModTime()
	}
	if f.err = err; err != nil {
		return false
	}
	f.names = names
	return true
}

// reload reads the files that have changed, and adds and removes entries so that they match the names. It returns the
// added and the removed entries.
func (s *nodeState) reload(ctx context.Context) (came, went []*entry) {
	changed := false
	for _, f := range s.files {
		changed = f.read(ctx) || changed
	}
	if !changed {
		return nil, nil
	}
	wanted := map[string]bool{}
	add := func(one Selection) {
		if wanted[one.Pattern] {
			return
		}
		wanted[one.Pattern] = true
		if s.byName[one.Pattern] == nil {
			came = append(came, s.add(one))
		}
	}
	for _, named := range s.fixed {
		add(named)
	}
	for _, f := range s.files {
		for _, name := range f.names {
			add(Selection{Pattern: name, Node: f.Node, Expected: f.Expected})
		}
	}
	s.names = slices.DeleteFunc(s.names, func(e *entry) bool {
		if wanted[e.Pattern] {
			return false
		}
		went = append(went, e)
		delete(s.byName, e.Pattern)
		return true
	})
	return came, went
}

// unreadFiles returns a sentence for each file that could not be read.
func (s *nodeState) unreadFiles() []string {
	var list []string
	for _, f := range s.files {
		if f.err != nil {
			list = append(list, "the names in "+format.Clean(f.Path, 200)+" are not those of now: "+format.Clean(f.err.Error(), 200))
		}
	}
	return list
}

// reload watches the names that were added to files, and drops those that were removed.
func (w *watching) reload(ctx context.Context) error {
	came, went := w.state.reload(ctx)
	w.pace.backlog = append(w.pace.backlog, came...)
	var c sources.Change
	for _, e := range went {
		w.follower.Remove(e.Pattern)
		if e.shown != nil {
			c.Gone = append(c.Gone, w.state.ref(e))
		}
	}
	if len(went) > 0 {
		c.Synced = w.state.complete()
	}
	return w.send(c)
}
