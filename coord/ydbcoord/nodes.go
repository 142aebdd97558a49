package ydbcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Scheme_V1"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Operations"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Scheme"
	"google.golang.org/protobuf/proto"

	"coordtop/internal/ground/failure"
)

// Node is a coordination node.
type Node struct {
	Path  string
	Owner string // a user of the database
	// Incarnation changes when the node is dropped and created again, because that resets session numbers and order
	// ids; "" if the service does not report it.
	Incarnation string
	Config      *pb.Config // as it was set; defaults are not filled in
}

// Nodes manages the coordination nodes of a database. Its methods are safe for concurrent use. A path without a leading
// slash is relative to the database.
type Nodes struct{ client *Client }

// Nodes returns the coordination nodes of the database. It sends nothing.
func (c *Client) Nodes() *Nodes { return &Nodes{client: c} }

// Create makes a coordination node, and the directories above it. A zero field of c, or a nil c, means the service's
// default. If the node exists already, Create changes nothing and returns nil. If something else exists at the path,
// the error is coord.ErrRefused.
func (n *Nodes) Create(ctx context.Context, path string, c *pb.Config) error {
	return n.call(ctx, "creating", path, nil, func(s services, path string) (reply, error) {
		return s.coordination.CreateNode(ctx, &pb.CreateNodeRequest{Path: path, Config: c, OperationParams: synchronous})
	})
}

// Alter changes the configuration of a coordination node. If the node is missing, the error is coord.ErrRefused. A zero
// field of c leaves the setting unchanged, so that nothing can be set back to zero.
func (n *Nodes) Alter(ctx context.Context, path string, c *pb.Config) error {
	return n.call(ctx, "altering", path, nil, func(s services, path string) (reply, error) {
		return s.coordination.AlterNode(ctx, &pb.AlterNodeRequest{Path: path, Config: c, OperationParams: synchronous})
	})
}

// Drop deletes a coordination node with all its semaphores, even if they are in use. Its sessions end. If there is no
// such node, the error is coord.ErrRefused.
func (n *Nodes) Drop(ctx context.Context, path string) error {
	return n.call(ctx, "dropping", path, nil, func(s services, path string) (reply, error) {
		return s.coordination.DropNode(ctx, &pb.DropNodeRequest{Path: path, OperationParams: synchronous})
	})
}

// Describe reads a coordination node. It returns coord.ErrRefused if no node has this path.
func (n *Nodes) Describe(ctx context.Context, path string) (Node, error) {
	ctx = n.client.through(ctx)
	var result pb.DescribeNodeResult
	node := Node{}
	err := n.call(ctx, "describing", path, &result, func(s services, path string) (reply, error) {
		node.Path = path
		return s.coordination.DescribeNode(ctx, &pb.DescribeNodeRequest{Path: path, OperationParams: synchronous})
	})
	if err != nil {
		return Node{}, err
	}
	node.Owner, node.Config = result.GetSelf().GetOwner(), result.GetConfig()
	if at := result.GetSelf().GetCreatedAt(); at.GetPlanStep() != 0 || at.GetTxId() != 0 {
		node.Incarnation = fmt.Sprintf("%d.%d", at.GetPlanStep(), at.GetTxId())
	}
	return node, nil
}

// List walks the directories below root ("" is the database) and yields the path of each coordination node. Names that
// begin with a dot belong to the system and are left out. If a node cannot be read, List yields its path with the error
// and continues. If root itself cannot be read, or ctx ends, the sequence ends.
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
	var result Ydb_Scheme.ListDirectoryResult
	err := n.call(ctx, "listing", path, &result, func(s services, path string) (reply, error) {
		return s.scheme.ListDirectory(ctx, &Ydb_Scheme.ListDirectoryRequest{Path: path, OperationParams: synchronous})
	})
	return result.GetChildren(), err
}

// services has the gRPC clients of the services that are called here.
type services struct {
	coordination Ydb_Coordination_V1.CoordinationServiceClient
	scheme       Ydb_Scheme_V1.SchemeServiceClient
}

type reply interface {
	GetOperation() *Ydb_Operations.Operation
}

// nodeCall is a function that makes one call about the node or directory at path.
type nodeCall = func(s services, path string) (reply, error)

// synchronous makes the service answer when the operation is done.
var synchronous = &Ydb_Operations.OperationParams{OperationMode: Ydb_Operations.OperationParams_SYNC}

// call makes a call and stores its result in result, unless that is nil. Its error names the path.
func (n *Nodes) call(ctx context.Context, what, path string, result proto.Message, f nodeCall) error {
	err := n.callWhole(ctx, path, result, f)
	return doing(fmt.Sprintf("%s %q", what, cutText(path, longestIssue)), failure.With(err, ctx.Err()))
}

func (n *Nodes) callWhole(ctx context.Context, path string, result proto.Message, f nodeCall) error {
	whole, err := NodePath(n.client.options.Database, path)
	if err != nil {
		return err
	}
	conn, err := n.client.conn(ctx)
	if err != nil {
		return err
	}
	answer, err := f(services{Ydb_Coordination_V1.NewCoordinationServiceClient(conn), Ydb_Scheme_V1.NewSchemeServiceClient(conn)}, whole)
	if err != nil {
		return callError(err)
	}
	if err := operationError(answer.GetOperation()); err != nil || result == nil {
		return err
	}
	return doing("reading the answer", answer.GetOperation().GetResult().UnmarshalTo(result))
}

// operationError returns the error in the answer to a call.
func operationError(op *Ydb_Operations.Operation) error {
	if !op.GetReady() {
		return errors.New("the service has not finished the operation")
	}
	return answerError(op.GetStatus(), op.GetIssues())
}
