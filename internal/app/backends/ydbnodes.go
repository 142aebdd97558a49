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

// ydbNodeCalls creates, alters, drops and describes coordination nodes, each over a connection of its own.
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
		err = call(client.Nodes())
		return errors.Join(err, client.Close(ctx))
	}
	return &operate.Nodes{
		Create: func(ctx context.Context, space string, to action.NodeSettings) error {
			return with(ctx, func(n *ydbcoord.Nodes) error { return n.Create(ctx, space, ydbNodeConfig(to)) })
		},
		Alter: func(ctx context.Context, space string, to action.NodeSettings) error {
			return with(ctx, func(n *ydbcoord.Nodes) error { return n.Alter(ctx, space, ydbNodeConfig(to)) })
		},
		Drop: func(ctx context.Context, space string) error {
			return with(ctx, func(n *ydbcoord.Nodes) error { return n.Drop(ctx, space) })
		},
		Describe: func(ctx context.Context, space string) (d action.Node, err error) {
			err = with(ctx, func(n *ydbcoord.Nodes) error {
				node, err := n.Describe(ctx, space)
				d = ydbNode(node)
				return err
			})
			return d, err
		},
	}
}

var (
	consistencies = map[string]pb.ConsistencyMode{"strict": pb.ConsistencyMode_CONSISTENCY_MODE_STRICT, "relaxed": pb.ConsistencyMode_CONSISTENCY_MODE_RELAXED}
	counters      = map[string]pb.RateLimiterCountersMode{"aggregated": pb.RateLimiterCountersMode_RATE_LIMITER_COUNTERS_MODE_AGGREGATED, "detailed": pb.RateLimiterCountersMode_RATE_LIMITER_COUNTERS_MODE_DETAILED}
)

func ydbNodeConfig(s action.NodeSettings) *pb.Config {
	return &pb.Config{
		SelfCheckPeriodMillis: uint32(s.SelfCheckPeriod.Milliseconds()), SessionGracePeriodMillis: uint32(s.SessionGracePeriod.Milliseconds()),
		ReadConsistencyMode: consistencies[s.ReadConsistency], AttachConsistencyMode: consistencies[s.AttachConsistency],
		RateLimiterCountersMode: counters[s.RateLimiterCounters],
	}
}

func ydbNode(n ydbcoord.Node) action.Node {
	c := n.Config
	settings := action.NodeSettings{
		SelfCheckPeriod:    time.Duration(c.GetSelfCheckPeriodMillis()) * time.Millisecond,
		SessionGracePeriod: time.Duration(c.GetSessionGracePeriodMillis()) * time.Millisecond,
	}
	for word, mode := range consistencies {
		if mode == c.GetReadConsistencyMode() {
			settings.ReadConsistency = word
		}
		if mode == c.GetAttachConsistencyMode() {
			settings.AttachConsistency = word
		}
	}
	for word, mode := range counters {
		if mode == c.GetRateLimiterCountersMode() {
			settings.RateLimiterCounters = word
		}
	}
	return action.Node{Owner: n.Owner, Incarnation: n.Incarnation, NodeSettings: settings}
}

// ydbNodeCall describes in one line what a request about a coordination node sends.
func ydbNodeCall(r action.Request) string {
	call := map[action.Verb]string{action.CreateNode: "CreateNode", action.AlterNode: "AlterNode", action.DropNode: "DropNode"}[r.Verb] + " " + strconv.Quote(r.Target.Ref.Space)
	if s := r.Node.String(); s != "" {
		call += ", " + s
	}
	return call
}
