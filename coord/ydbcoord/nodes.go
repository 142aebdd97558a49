package ydbcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Scheme_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Operations"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Scheme"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"coordtop/internal/failure"
)

// Consistency is how strictly a coordination node reads, or attaches sessions.
type Consistency uint8

// The consistency modes. ConsistencyUnset leaves it to the service (reads relaxed, attach
// strict), or as it was.
const (
	ConsistencyUnset Consistency = iota
	ConsistencyStrict
	ConsistencyRelaxed
)

// Counters is how a coordination node counts the use of its rate limiters.
type Counters uint8

// The modes of the counters. CountersUnset leaves it to the service (aggregated), or as
// it was.
const (
	CountersUnset Counters = iota
	CountersAggregated
	CountersDetailed
)

// NodeConfig is the configuration of a coordination node. Zero fields leave the service's
// default, or in Alter what was there: nothing can be set back. Durations count whole
// milliseconds, of which 49 days fit.
type NodeConfig struct {
	SelfCheckPeriod     time.Duration // how often the node checks that it is the only one; default 1 s
	SessionGracePeriod  time.Duration // what sessions get on top of their timeout when the node restarts; default 10 s
	ReadConsistency     Consistency
	AttachConsistency   Consistency
	RateLimiterCounters Counters
}

// Node is a coordination node.
type Node struct {
	Path  string
	Owner string // a user of the database
	// Incarnation is another one after the node was dropped and created again, when session
	// numbers and order ids start anew; "" where the service does not report it.
	Incarnation string
	Config      NodeConfig // what was set; defaults are not filled in
}

// Nodes manages the coordination nodes of a database. Its methods are safe for concurrent
// use. A path without a slash before it counts from the database.
type Nodes struct{ client *Client }

// Nodes returns the coordination nodes of the database. It asks nothing.
func (c *Client) Nodes() *Nodes { return &Nodes{client: c} }

// Create makes a coordination node, and the directories before it. One that exists already
// is no error and is left as it is; something else at the path is coord.ErrRefused.
func (n *Nodes) Create(ctx context.Context, path string, c NodeConfig) error {
	_, err := n.call(ctx, "creating", path, func(s services, path string) (reply, error) {
		return s.coordination.CreateNode(ctx, &pb.CreateNodeRequest{Path: path, Config: c.encode(), OperationParams: params()})
	})
	return err
}

// Alter changes the configuration of a coordination node; coord.ErrRefused if there is none.
func (n *Nodes) Alter(ctx context.Context, path string, c NodeConfig) error {
	_, err := n.call(ctx, "altering", path, func(s services, path string) (reply, error) {
		return s.coordination.AlterNode(ctx, &pb.AlterNodeRequest{Path: path, Config: c.encode(), OperationParams: params()})
	})
	return err
}

// Drop deletes a coordination node with all its semaphores, whoever uses them: the service
// does not ask. Their sessions end. coord.ErrRefused if there is none.
func (n *Nodes) Drop(ctx context.Context, path string) error {
	_, err := n.call(ctx, "dropping", path, func(s services, path string) (reply, error) {
		return s.coordination.DropNode(ctx, &pb.DropNodeRequest{Path: path, OperationParams: params()})
	})
	return err
}

// Describe reads a coordination node; coord.ErrRefused if there is none.
func (n *Nodes) Describe(ctx context.Context, path string) (Node, error) {
	ctx = n.client.through(ctx)
	op, err := n.call(ctx, "describing", path, func(s services, path string) (reply, error) {
		return s.coordination.DescribeNode(ctx, &pb.DescribeNodeRequest{Path: path, OperationParams: params()})
	})
	if err != nil {
		return Node{}, err
	}
	var result pb.DescribeNodeResult
	if err := op.GetResult().UnmarshalTo(&result); err != nil {
		return Node{}, fmt.Errorf("describing the coordination node: reading the answer: %w", err)
	}
	path, err = NodePath(n.client.options.Database, path)
	return decodeNode(path, &result), err
}

// List walks the directories below root ("" is the database) and yields the path of each
// coordination node. Names that begin with a dot belong to the system and are left out.
// A node that cannot be read yields an error, with the path, and the walk goes on; when root
// itself cannot be read, or ctx ends, it is over.
func (n *Nodes) List(ctx context.Context, root string) iter.Seq2[string, error] {
	root = cmp.Or(root, n.client.options.Database)
	return func(yield func(string, error) bool) {
		root, err := NodePath(n.client.options.Database, root)
		if err != nil {
			yield(root, fmt.Errorf("listing: %w", err))
			return
		}
		queue := []string{root}
		for len(queue) > 0 {
			path := queue[0]
			queue = queue[1:]
			entries, err := n.list(ctx, path)
			if err != nil && (!yield(path, err) || ctx.Err() != nil) {
				return
			}
			for _, e := range entries {
				child := strings.TrimSuffix(path, "/") + "/" + e.GetName()
				switch {
				case strings.HasPrefix(e.GetName(), "."):
				case e.GetType() == Ydb_Scheme.Entry_DIRECTORY:
					queue = append(queue, child)
				case e.GetType() == Ydb_Scheme.Entry_COORDINATION_NODE && !yield(child, nil):
					return
				}
			}
		}
	}
}

func (n *Nodes) list(ctx context.Context, path string) ([]*Ydb_Scheme.Entry, error) {
	ctx = n.client.through(ctx)
	op, err := n.call(ctx, "listing", path, func(s services, path string) (reply, error) {
		return s.scheme.ListDirectory(ctx, &Ydb_Scheme.ListDirectoryRequest{Path: path, OperationParams: params()})
	})
	if err != nil {
		return nil, err
	}
	var result Ydb_Scheme.ListDirectoryResult
	if err := op.GetResult().UnmarshalTo(&result); err != nil {
		return nil, fmt.Errorf("listing a directory: reading the answer: %w", err)
	}
	return result.GetChildren(), nil
}

// services are the calls that are made here.
type services struct {
	coordination Ydb_Coordination_V1.CoordinationServiceClient
	scheme       Ydb_Scheme_V1.SchemeServiceClient
}

type reply interface {
	GetOperation() *Ydb_Operations.Operation
}

func (n *Nodes) call(ctx context.Context, doing, path string, f func(s services, path string) (reply, error)) (*Ydb_Operations.Operation, error) {
	failed := func(err error) (*Ydb_Operations.Operation, error) {
		return nil, fmt.Errorf("%s %q: %w", doing, cutText(path, longestIssue), failure.With(err, ctx.Err()))
	}
	path, err := NodePath(n.client.options.Database, path)
	if err != nil {
		return failed(err)
	}
	conn, err := n.client.conn(ctx)
	if err != nil {
		return failed(err)
	}
	answer, err := f(newServices(conn), path)
	if err != nil {
		return failed(callError(err))
	}
	if err := operationError(answer.GetOperation()); err != nil {
		return failed(err)
	}
	return answer.GetOperation(), nil
}

func newServices(conn grpc.ClientConnInterface) services {
	return services{Ydb_Coordination_V1.NewCoordinationServiceClient(conn), Ydb_Scheme_V1.NewSchemeServiceClient(conn)}
}

// params make the service answer when the operation is done.
func params() *Ydb_Operations.OperationParams {
	return &Ydb_Operations.OperationParams{OperationMode: Ydb_Operations.OperationParams_SYNC}
}

// operationError is what went wrong with a call that was answered.
func operationError(op *Ydb_Operations.Operation) error {
	if !op.GetReady() {
		return errors.New("the service has not finished the operation")
	}
	return answerError(op.GetStatus(), op.GetIssues())
}

func (c NodeConfig) encode() *pb.Config {
	return &pb.Config{
		SelfCheckPeriodMillis:    millis32(c.SelfCheckPeriod),
		SessionGracePeriodMillis: millis32(c.SessionGracePeriod),
		ReadConsistencyMode:      pb.ConsistencyMode(c.ReadConsistency),
		AttachConsistencyMode:    pb.ConsistencyMode(c.AttachConsistency),
		RateLimiterCountersMode:  pb.RateLimiterCountersMode(c.RateLimiterCounters),
	}
}

func millis32(d time.Duration) uint32 {
	return uint32(min(max(d.Milliseconds(), 0), 1<<32-1))
}

func decodeNode(path string, r *pb.DescribeNodeResult) Node {
	c := r.GetConfig()
	n := Node{Path: path, Owner: r.GetSelf().GetOwner(), Config: NodeConfig{
		SelfCheckPeriod:     time.Duration(c.GetSelfCheckPeriodMillis()) * time.Millisecond,
		SessionGracePeriod:  time.Duration(c.GetSessionGracePeriodMillis()) * time.Millisecond,
		ReadConsistency:     Consistency(c.GetReadConsistencyMode()),
		AttachConsistency:   Consistency(c.GetAttachConsistencyMode()),
		RateLimiterCounters: Counters(c.GetRateLimiterCountersMode()),
	}}
	if at := r.GetSelf().GetCreatedAt(); at != nil && !proto.Equal(at, &Ydb.VirtualTimestamp{}) {
		n.Incarnation = fmt.Sprintf("%d.%d", at.GetPlanStep(), at.GetTxId())
	}
	return n
}
