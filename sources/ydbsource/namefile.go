package ydbsource

import (
	"context"
	"os"
	"time"

	"coordtop/internal/files"
	"coordtop/internal/format"
	"coordtop/sources"
)

// NameFile is a file of names of semaphores, one in a line: see Selection.Name. Empty lines and
// those that begin with # count for nothing.
type NameFile struct {
	Path     string
	Node     string // as Selection.Node
	Expected bool   // each must always have an owner
}

const (
	longestFile = 16 << 20
	readAgain   = time.Second // between two looks whether a file has changed
)

// nameFile is what was read of a NameFile.
type nameFile struct {
	NameFile
	size     int64
	modified time.Time
	names    []string
	err      error // why it could not be read; the names are older
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

// reload reads the files that have changed, and makes the entries those of the present names. It
// returns which came and which went.
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
		if wanted[one.Name] {
			return
		}
		wanted[one.Name] = true
		if s.byName[one.Name] == nil {
			e := &entry{Selection: one}
			came = append(came, e)
			s.byName[one.Name] = e
			s.names = append(s.names, e)
		}
	}
	for _, named := range s.fixed {
		add(named)
	}
	for _, f := range s.files {
		for _, name := range f.names {
			add(Selection{Name: name, Node: f.Node, Expected: f.Expected})
		}
	}
	stay := s.names[:0:0]
	for _, e := range s.names {
		if wanted[e.Name] {
			stay = append(stay, e)
			continue
		}
		went = append(went, e)
		delete(s.byName, e.Name)
	}
	s.names = stay
	return came, went
}

// unreadFiles says which files could not be read, and why.
func (s *nodeState) unreadFiles() []string {
	var list []string
	for _, f := range s.files {
		if f.err != nil {
			list = append(list, "the names in "+format.Clean(f.Path, 200)+" are not those of now: "+format.Clean(f.err.Error(), 200))
		}
	}
	return list
}

// reload watches the names that have come into files, and forgets those that went.
func (w *watching) reload(ctx context.Context) error {
	came, went := w.state.reload(ctx)
	w.pace.backlog = append(w.pace.backlog, came...)
	var c sources.Change
	for _, e := range went {
		w.follower.Remove(e.Name)
		if e.shown != nil {
			c.Gone = append(c.Gone, w.state.ref(e))
		}
	}
	if len(went) > 0 {
		c.Synced = w.state.complete()
	}
	return w.send(c)
}
