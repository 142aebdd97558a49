package backends

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/operate"
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

// ydbNamed returns a source that watches one semaphore alone, see ydbPlace.
func ydbNamed(s config.Source, name string) (_ config.Source, space string, err error) {
	space, name, err = ydbPlace(s)(name)
	if err != nil {
		return s, "", err
	}
	one := config.Watch{Kind: sources.KindSemaphore, Pattern: strings.ReplaceAll(name, "*", `\*`), Node: space}
	for _, w := range s.Watch {
		if w.Pattern == one.Pattern && w.Kind != sources.KindUnknown {
			one.Kind = w.Kind
		}
	}
	s.Nodes, s.Watch, s.NameFiles = []string{space}, []config.Watch{one}, nil
	return s, space, nil
}

// ydbAlone returns a source that watches one coordination node alone, with the semaphores that the config names there
// and those that are remembered.
func ydbAlone(ctx context.Context, s config.Source, path, state string) (_ config.Source, space string, err error) {
	o, err := ydbClient(s, "", nil)
	if err != nil {
		return s, "", err
	}
	switch nodes := ydbNodes(s); {
	case path == "" && len(nodes) == 1:
		space = nodes[0]
	case path == "":
		return s, "", errors.New("name one coordination node, as node=/local/app")
	case strings.HasPrefix("/"+strings.TrimPrefix(path, "/"), o.Database+"/"):
		space, err = ydbcoord.NodePath(o.Database, "/"+strings.TrimPrefix(path, "/"))
	default:
		space, err = ydbcoord.NodePath(o.Database, path)
	}
	if err != nil {
		return s, "", err
	}
	elsewhere := func(node string) bool {
		at, err := ydbcoord.NodePath(o.Database, node)
		return node != "" && (err != nil || at != space)
	}
	s.Nodes = []string{space}
	s.Watch = slices.DeleteFunc(slices.Clone(s.Watch), func(w config.Watch) bool { return elsewhere(w.Node) })
	s.NameFiles = slices.DeleteFunc(slices.Clone(s.NameFiles), func(f config.NameFile) bool { return elsewhere(f.Node) })
	if state == "" || s.ForgetNames {
		return s, space, nil
	}
	for _, name := range knownNames(state, o).Names(ctx, space) {
		s.Watch = append(s.Watch, config.Watch{Pattern: strings.ReplaceAll(name, "*", `\*`), Node: space})
	}
	return s, space, nil
}

// ydbNodeCalls creates, alters and drops coordination nodes, each over a connection of its own.
func ydbNodeCalls(h Host, s config.Source) *operate.Nodes {
	with := func(ctx context.Context, call func(*ydbcoord.Nodes) error) error {
		o, err := ydbOptions(ctx, h, s)
		if err != nil {
			return err
		}
		client, err := ydbcoord.NewClient(o)
		if err != nil {
			return err
		}
		return errors.Join(call(client.Nodes()), client.Close(ctx))
	}
	set := func(exists bool) func(context.Context, string, []sources.Attr) error {
		return func(ctx context.Context, space string, settings []sources.Attr) error {
			to, err := ydbNodeConfig(settings)
			if err != nil {
				return err
			}
			return with(ctx, func(n *ydbcoord.Nodes) error {
				if exists {
					return n.Alter(ctx, space, to)
				}
				return n.Create(ctx, space, to)
			})
		}
	}
	return &operate.Nodes{
		Check:  func(settings []sources.Attr) error { _, err := ydbNodeConfig(settings); return err },
		Create: set(false), Alter: set(true),
		Drop: func(ctx context.Context, space string) error {
			return with(ctx, func(n *ydbcoord.Nodes) error { return n.Drop(ctx, space) })
		},
	}
}

// ydbNodeConfig parses the settings of a coordination node, and writes each length as ydbsource does.
func ydbNodeConfig(settings []sources.Attr) (*pb.Config, error) {
	c := &pb.Config{}
	for i := range settings {
		s, err := &settings[i], error(nil)
		millis := func() uint32 {
			d, wrong := time.ParseDuration(s.Value)
			if wrong != nil || d < time.Millisecond || d > time.Hour || d%time.Millisecond != 0 {
				err = fmt.Errorf("%s: whole milliseconds, as 10s, up to an hour", s.Key)
			}
			s.Value = d.String()
			return uint32(d.Milliseconds())
		}
		word := func(values map[string]int32, prefix, words string) int32 {
			n := values[prefix+strings.ToUpper(s.Value)]
			if n == 0 || s.Value != strings.ToLower(s.Value) {
				err = fmt.Errorf("%s: %s", s.Key, words)
			}
			return n
		}
		switch s.Key {
		case "self check period":
			c.SelfCheckPeriodMillis = millis()
		case "session grace period":
			c.SessionGracePeriodMillis = millis()
		case "read consistency":
			c.ReadConsistencyMode = pb.ConsistencyMode(word(pb.ConsistencyMode_value, "CONSISTENCY_MODE_", "strict or relaxed"))
		case "attach consistency":
			c.AttachConsistencyMode = pb.ConsistencyMode(word(pb.ConsistencyMode_value, "CONSISTENCY_MODE_", "strict or relaxed"))
		case "rate limiter counters":
			c.RateLimiterCountersMode = pb.RateLimiterCountersMode(word(pb.RateLimiterCountersMode_value, "RATE_LIMITER_COUNTERS_MODE_", "aggregated or detailed"))
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// ydbNodeCall describes in one line what a request about a coordination node sends.
func ydbNodeCall(r action.Request) string {
	call := map[action.Verb]string{action.CreateNode: "CreateNode", action.AlterNode: "AlterNode", action.DropNode: "DropNode"}[r.Verb] + " " + strconv.Quote(r.Target.Ref.Space)
	if s := operate.SettingsText(r.Settings); s != "" {
		call += ", " + s
	}
	return call
}
