package ydbsource

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/sources"
)

// Options select the primitives to watch, and the servers. Only Name and Client are needed.
type Options struct {
	// Name is the source's name: Ref.Source of everything it publishes.
	Name string
	// Client is the address of the database and our login. A node in it counts as one of Nodes.
	Client ydbcoord.ClientOptions
	// Nodes are the paths of coordination nodes, absolute, or relative to the database without a leading slash. If
	// there are none here and in Selections, all nodes of the database are found by walking its directories, at the
	// start and every minute.
	Nodes []string
	// Selections name the semaphores to watch, because YDB does not list them. A node without named semaphores is shown
	// only with its settings.
	Selections []Selection
	// Files name more semaphores. They are read again when they change.
	Files []NameFile
	// Known remembers the names that were seen on each node. It may be nil.
	Known *KnownNames
	// Labels are added to every primitive.
	Labels []sources.Attr
	// PollMin and PollMax bound the pause between two looks at the queue of one semaphore, which YDB does not push. 0:
	// 500 ms and 5 s. All semaphores of a node share 20 looks a second.
	PollMin, PollMax time.Duration
}

// Selection is one semaphore to watch. Its Pattern is a name, or several with ranges of numbers, for example
// job-{0..9}. Without a Node it applies to every node of Options.Nodes, or to every found one.
type Selection = sources.Selection

// noNode is the Note of rows whose coordination node does not exist.
const noNode = "there is no such coordination node"

const observer = "coordtop-watch" // the description of our sessions

func (o Options) withDefaults() Options {
	o.PollMin = cmp.Or(max(o.PollMin, 0), 500*time.Millisecond)
	o.PollMax = cmp.Or(max(o.PollMax, 0), 5*time.Second)
	o.PollMax = max(o.PollMin, o.PollMax)
	return o
}

// plan is the compiled form of the selections. It is never changed.
type plan struct {
	nodes []string               // absolute paths, without duplicates
	walk  bool                   // the nodes must be found by walking
	named map[string][]Selection // by node; "" for every node
	files []NameFile
}

func (o Options) compile() (*plan, error) {
	p := &plan{named: map[string][]Selection{}}
	// add makes the path of a node absolute and adds it.
	add := func(node *string, optional bool) error {
		if optional && *node == "" {
			return nil
		}
		path, err := ydbcoord.NodePath(o.Client.Database, *node)
		if err == nil && !slices.Contains(p.nodes, path) {
			p.nodes = append(p.nodes, path)
		}
		*node = path
		return err
	}
	if err := add(&o.Client.Node, true); err != nil {
		return nil, err
	}
	for _, node := range o.Nodes {
		if err := add(&node, false); err != nil {
			return nil, err
		}
	}
	count := 0
	for _, s := range o.Selections {
		if err := add(&s.Node, true); err != nil {
			return nil, err
		}
		list, err := expandAll(s)
		if err != nil {
			return nil, err
		}
		if count += len(list); count > mostNames {
			return nil, fmt.Errorf("more than %d semaphores are named", mostNames)
		}
		p.named[s.Node] = append(p.named[s.Node], list...)
	}
	for _, f := range o.Files {
		if err := add(&f.Node, true); err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	p.walk = len(p.nodes) == 0
	return p, nil
}

// selections returns the selections of a node. If two name one semaphore, that of the node itself is used, else the
// first.
func (p *plan) selections(node string) []Selection {
	var list []Selection
	seen := map[string]bool{}
	for _, s := range slices.Concat(p.named[node], p.named[""]) {
		if !seen[s.Pattern] {
			seen[s.Pattern] = true
			list = append(list, s)
		}
	}
	return list
}
