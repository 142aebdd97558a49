package backends

import (
	"fmt"
	"slices"
	"strings"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/config"
	"coordtop/sources"
)

// ydbNodes returns the absolute paths of the coordination nodes that a source names.
func ydbNodes(s config.Source) (nodes []string) {
	o, err := ydbcoord.ParseURL(s.URL)
	if err != nil {
		return nil
	}
	add := func(node string) {
		if path, err := ydbcoord.NodePath(o.Database, node); node != "" && err == nil && !slices.Contains(nodes, path) {
			nodes = append(nodes, path)
		}
	}
	for _, node := range s.Nodes {
		add(node)
	}
	for _, w := range s.Watch {
		add(w.Node)
	}
	for _, f := range s.NameFiles {
		add(f.Node)
	}
	return nodes
}

// ydbPlace needs the path of the node in the name if the source has several.
func ydbPlace(s config.Source) func(name string) (space, key string, err error) {
	nodes := ydbNodes(s)
	place := placed(nodes...)
	return func(name string) (space, key string, err error) {
		if space, key, err = place(name); space == "" {
			err = fmt.Errorf("write the path of the coordination node before the name, one of %s", strings.Join(nodes, ", "))
		}
		return space, key, err
	}
}

// ydbNamed returns a source that watches one semaphore alone, by the path of its node and its name. Without a path it
// must be on the only node of the source.
func ydbNamed(s config.Source, name string) (_ config.Source, space string, ok bool) {
	nodes := ydbNodes(s)
	whole := "/" + strings.TrimPrefix(name, "/")
	for _, node := range nodes {
		if strings.HasPrefix(whole, node+"/") && len(node) > len(space) {
			space = node
		}
	}
	switch {
	case space != "":
		name = whole[len(space)+1:]
	case len(nodes) == 1:
		space = nodes[0]
	default:
		return s, "", false
	}
	one := config.Watch{Kind: sources.KindSemaphore, Pattern: strings.ReplaceAll(name, "*", `\*`), Node: space}
	for _, w := range s.Watch {
		if w.Pattern == one.Pattern && w.Kind != sources.KindUnknown {
			one.Kind = w.Kind
		}
	}
	s.Nodes, s.Watch, s.NameFiles = []string{space}, []config.Watch{one}, nil
	return s, space, true
}
