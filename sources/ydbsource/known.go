package ydbsource

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
)

// mostKnown is the maximum number of remembered names for a node.
const mostKnown = 10_000

// KnownNames remembers the names of semaphores that were seen, in a file for each coordination node, because YDB does
// not list them. Its methods are safe for concurrent use.
type KnownNames struct {
	folder   string
	database string // with its address
	mu       sync.Mutex
}

// NewKnownNames returns KnownNames in a folder, which the first write makes. Nodes of the same path are distinguished
// by the address and the path of the database.
func NewKnownNames(folder, address, database string) *KnownNames {
	return &KnownNames{folder: folder, database: address + database}
}

func (k *KnownNames) file(node string) string {
	return fmt.Sprintf("%x.names", sha1.Sum([]byte(k.database+"\n"+node)))
}

// Names returns the remembered names of a node, sorted. It returns none if the file cannot be read.
func (k *KnownNames) Names(ctx context.Context, node string) []string {
	data, _, err := files.Read(ctx, filepath.Join(k.folder, k.file(node)), longestFile)
	if err != nil {
		return nil
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		if name, err := strconv.Unquote(strings.TrimSpace(line)); err == nil {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// save remembers the names that were seen for the first time, in a goroutine of the link, because a disk may take
// seconds. An error is ignored, because the names are only a convenience.
func (n *node) save() {
	names, known := n.state.unsaved, n.state.o.Known
	if len(names) == 0 {
		return
	}
	n.state.unsaved = nil
	n.link.Start(func() error {
		_ = known.Add(context.WithoutCancel(n.link.Context()), n.state.path, names)
		return nil
	})
}

// Add remembers names of a node. The file has one quoted name in each line.
func (k *KnownNames) Add(ctx context.Context, node string, names []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.Names(ctx, node)
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, found := slices.BinarySearch(known, name)
		return found
	})
	names = names[:min(len(names), max(mostKnown-len(known), 0))]
	if len(names) == 0 {
		return nil
	}
	folder, _, err := files.PrivateFolder(k.folder)
	if err != nil {
		return err
	}
	defer folder.Close() // closed after reading only
	f, err := files.OpenPrivate(folder, k.file(node), os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	var lines []byte
	for _, name := range names {
		lines = append(strconv.AppendQuote(lines, name), '\n')
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

// knownShown is the maximum number of names in a sentence.
const knownShown = 10

// knownText returns a text with the remembered names of the node, or "".
func (s *nodeState) knownText(ctx context.Context) string {
	if s.o.Known == nil {
		return ""
	}
	names := s.o.Known.Names(ctx, s.path)
	if len(names) == 0 {
		return ""
	}
	for i := range names {
		names[i] = format.Clean(names[i], 100)
	}
	return "names known from before: " + format.Some(names, knownShown)
}
