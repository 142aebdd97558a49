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

// mostKnown is the most names that are remembered of one node.
const mostKnown = 10_000

// KnownNames remembers the names of semaphores that were seen, a file for each coordination node:
// YDB lists none. Its methods are safe for concurrent use.
type KnownNames struct {
	folder   string
	database string // with its address
	mu       sync.Mutex
}

// NewKnownNames remembers names in a folder, which it makes when it first writes. Nodes of the same path are
// distinguished by the address and the path of the database.
func NewKnownNames(folder, address, database string) *KnownNames {
	return &KnownNames{folder: folder, database: address + database}
}

func (k *KnownNames) file(node string) string {
	return fmt.Sprintf("%x.names", sha1.Sum([]byte(k.database+"\n"+node)))
}

// Names returns the names that are remembered of a node, sorted; none where nothing can be read.
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

// save remembers the names that were seen for the first time, in a goroutine of the link: a disk may take
// seconds. If it fails only a convenience is lost.
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

// Add remembers names of a node. Each stands in a line of its own, quoted.
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
	defer folder.Close() // nothing was written to it
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

// knownShown is the most names that a sentence lists.
const knownShown = 10

// knownText lists the names that are remembered of the node; "": none is.
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
