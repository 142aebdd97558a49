package ydbtest

import (
	"slices"
	"strings"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Scheme"
	"google.golang.org/protobuf/proto"
)

const superuser = "root@builtin"

// entry is a directory or, with a tablet, a coordination node.
type entry struct {
	name        string
	owner       string
	created     uint64
	tablet      *tablet
	children    map[string]*entry   // of a directory
	permissions map[string][]string // names of permissions, by subject
}

// splitPath returns the names in a path.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// find returns the entry at path; nil if the path does not exist.
func (c *cluster) find(path []string) *entry {
	at := c.root
	for _, name := range path {
		at = at.children[name]
		if at == nil {
			return nil
		}
	}
	return at
}

func (c *cluster) node(path string) (*entry, *refusal) {
	names := splitPath(path)
	if len(names) == 0 {
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the path is empty"}
	}
	at := c.find(names)
	if at == nil || at.tablet == nil {
		return nil, &refusal{Ydb.StatusIds_SCHEME_ERROR, "there is no coordination node at this path"}
	}
	return at, nil
}

// newChild makes an entry without a tablet.
func (c *cluster) newChild(parent *entry, name string) *entry {
	c.created++
	e := &entry{name: name, owner: superuser, created: c.created, children: map[string]*entry{}, permissions: map[string][]string{}}
	parent.children[name] = e
	return e
}

// makeDirectories makes the missing directories of a path and returns the last one. It returns nil if a coordination
// node is in the way.
func (c *cluster) makeDirectories(path []string) *entry {
	at := c.root
	for _, name := range path {
		next := at.children[name]
		if next == nil {
			next = c.newChild(at, name)
		}
		if next.tablet != nil {
			return nil
		}
		at = next
	}
	return at
}

// inDatabase returns a refusal unless an entry may be made at path.
func (c *cluster) inDatabase(path []string) *refusal {
	if len(path) == 0 {
		return &refusal{Ydb.StatusIds_BAD_REQUEST, "the path is empty"}
	}
	if n := len(c.database); len(path) < n || !slices.Equal(path[:n], c.database) {
		return &refusal{Ydb.StatusIds_SCHEME_ERROR, "the path is outside of the database"}
	}
	if len(path) > deepestPath || !allGoodNames(path[len(c.database):]) {
		return &refusal{Ydb.StatusIds_SCHEME_ERROR, "the path is too deep, or has a name that is not allowed"}
	}
	return nil
}

// The limits of ydb/core/tx/schemeshard/schemeshard_types.h.
const (
	deepestPath = 32
	longestPart = 255 // bytes
)

// allGoodNames implements the rule of TPath::IsValidLeafName: every graphic ASCII character is allowed, but not dots
// alone. Unlike the service it allows .sys, the name of the system's directory, for tests.
func allGoodNames(names []string) bool {
	bad := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	return !slices.ContainsFunc(names, func(name string) bool {
		return len(name) > longestPart || strings.Trim(name, ".") == "" || strings.ContainsFunc(name, bad)
	})
}

// pathInConfig is the answer of most servers. Servers whose ydb/core/ydb_convert/tx_proxy_status.cpp has the scheme
// shard's StatusInvalidParameter answer BAD_REQUEST.
var pathInConfig = &refusal{Ydb.StatusIds_GENERIC_ERROR, "the path of a config is read only"}

// createNode makes a coordination node. It does not change one that exists.
func (c *cluster) createNode(path string, config *pb.Config) *refusal {
	names := splitPath(path)
	if config.GetPath() != "" {
		return pathInConfig
	}
	if err := c.inDatabase(names); err != nil {
		return err
	}
	if at := c.find(names); at != nil {
		if at.tablet == nil {
			return &refusal{Ydb.StatusIds_SCHEME_ERROR, "something else is at this path"}
		}
		return nil
	}
	parent := c.makeDirectories(names[:len(names)-1])
	if parent == nil {
		return &refusal{Ydb.StatusIds_SCHEME_ERROR, "the parent is no directory"}
	}
	at := c.newChild(parent, names[len(names)-1])
	at.children = nil
	at.tablet = newTablet(c, mergeConfig(&pb.Config{}, config))
	return nil
}

func (c *cluster) alterNode(path string, config *pb.Config) *refusal {
	at, err := c.node(path)
	if err != nil {
		return err
	}
	if config.GetPath() != "" {
		return pathInConfig
	}
	at.tablet.config = mergeConfig(at.tablet.config, config)
	return nil
}

// mergeConfig merges as proto3 does: fields that are zero in change keep their old value.
func mergeConfig(old, change *pb.Config) *pb.Config {
	merged := &pb.Config{}
	proto.Merge(merged, old)
	proto.Merge(merged, change)
	return merged
}

// dropNode removes a node, even if clients still use it.
func (c *cluster) dropNode(path string) *refusal {
	at, err := c.node(path)
	if err != nil {
		return err
	}
	names := splitPath(path)
	delete(c.find(names[:len(names)-1]).children, at.name)
	at.tablet.drop()
	return nil
}

func (c *cluster) makeDirectory(path string) *refusal {
	names := splitPath(path)
	if err := c.inDatabase(names); err != nil {
		return err
	}
	if c.makeDirectories(names) == nil {
		return &refusal{Ydb.StatusIds_SCHEME_ERROR, "a coordination node is in the way"}
	}
	return nil
}

func (c *cluster) removeDirectory(path string) *refusal {
	names := splitPath(path)
	if len(names) == 0 {
		return &refusal{Ydb.StatusIds_BAD_REQUEST, "the path is empty"}
	}
	at := c.find(names)
	switch {
	case at == nil || at.tablet != nil:
		return &refusal{Ydb.StatusIds_SCHEME_ERROR, "there is no directory at this path"}
	case len(at.children) > 0 || len(names) <= len(c.database):
		return &refusal{Ydb.StatusIds_SCHEME_ERROR, "the directory is not empty or is the database"}
	}
	delete(c.find(names[:len(names)-1]).children, at.name)
	return nil
}

// entryAt returns the entry at path, or the refusal of DescribePath and ListDirectory.
func (c *cluster) entryAt(path string) (*entry, *refusal) {
	at := c.find(splitPath(path))
	if at == nil {
		return nil, &refusal{Ydb.StatusIds_SCHEME_ERROR, "there is nothing at this path"}
	}
	return at, nil
}

// describe returns the entry as a message.
func (e *entry) describe() *Ydb_Scheme.Entry {
	kind := Ydb_Scheme.Entry_DIRECTORY
	if e.tablet != nil {
		kind = Ydb_Scheme.Entry_COORDINATION_NODE
	}
	return &Ydb_Scheme.Entry{
		Name: e.name, Owner: e.owner, Type: kind,
		CreatedAt: &Ydb.VirtualTimestamp{PlanStep: e.created, TxId: e.created},
	}
}

func (e *entry) list() []*Ydb_Scheme.Entry {
	var children []*Ydb_Scheme.Entry
	for _, name := range sortedKeys(e.children) {
		children = append(children, e.children[name].describe())
	}
	return children
}

// describeFully returns the entry as a message with its permissions, which lists do not have.
func (e *entry) describeFully() *Ydb_Scheme.Entry {
	full := e.describe()
	for _, subject := range sortedKeys(e.permissions) {
		full.Permissions = append(full.Permissions, &Ydb_Scheme.Permissions{
			Subject: subject, PermissionNames: slices.Clone(e.permissions[subject]),
		})
	}
	full.EffectivePermissions = full.Permissions
	return full
}

func (e *entry) permit(action *Ydb_Scheme.PermissionsAction) {
	switch a := action.GetAction().(type) {
	case *Ydb_Scheme.PermissionsAction_Grant:
		had := e.permissions[a.Grant.GetSubject()]
		e.setPermissions(a.Grant.GetSubject(), append(had, a.Grant.GetPermissionNames()...))
	case *Ydb_Scheme.PermissionsAction_Revoke:
		left := slices.DeleteFunc(e.permissions[a.Revoke.GetSubject()], func(name string) bool {
			return slices.Contains(a.Revoke.GetPermissionNames(), name)
		})
		e.setPermissions(a.Revoke.GetSubject(), left)
	case *Ydb_Scheme.PermissionsAction_Set:
		e.setPermissions(a.Set.GetSubject(), a.Set.GetPermissionNames())
	case *Ydb_Scheme.PermissionsAction_ChangeOwner:
		e.owner = a.ChangeOwner
	}
}

func (e *entry) setPermissions(subject string, names []string) {
	if len(names) == 0 {
		delete(e.permissions, subject)
		return
	}
	names = slices.Clone(names)
	slices.Sort(names)
	e.permissions[subject] = slices.Compact(names)
}
