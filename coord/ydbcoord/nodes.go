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
	// Incarnation changes when the node is dropped and created again, when session
	// numbers and order ids start anew; "" where the service does not report it.
	Incarnation string
	Config      *pb.Config // as it was set; defaults are not filled in
}

// Nodes manages the coordination nodes of a database. Its methods are safe for concurrent
// use. A path without a slash before it counts from the database.
type Nodes struct{ client *Client }

// Nodes returns the coordination nodes of the database. It asks nothing.
func (c *Client) Nodes() *Nodes { return &Nodes{client: c} }

// Create makes a coordination node, and the directories above it. A zero field of c, or a nil c, stands for the
// service's default. A node that exists already is no error and stays as it is;
// something else at the path is coord.ErrRefused.
func (n *Nodes) Create(ctx context.Context, path string, c *pb.Config) error {
	return n.call(ctx, "creating", path, nil, func(s services, path string) (reply, error) {
		return s.coordination.CreateNode(ctx, &pb.CreateNodeRequest{Path: path, Config: c, OperationParams: synchronous})
	})
}

// Alter changes the configuration of a coordination node. A missing node is coord.ErrRefused. A
// zero field of c stays as it was, so nothing can be set back to zero.
func (n *Nodes) Alter(ctx context.Context, path string, c *pb.Config) error {
	return n.call(ctx, "altering", path, nil, func(s services, path string) (reply, error) {
		return s.coordination.AlterNode(ctx, &pb.AlterNodeRequest{Path: path, Config: c, OperationParams: synchronous})
	})
}

// Drop deletes a coordination node with all its semaphores, also if they are in use. Their sessions end.
// coord.ErrRefused if there is no such node.
func (n *Nodes) Drop(ctx context.Context, path string) error {
	return n.call(ctx, "dropping", path, nil, func(s services, path string) (reply, error) {
		return s.coordination.DropNode(ctx, &pb.DropNodeRequest{Path: path, OperationParams: synchronous})
	})
}

// Describe reads a coordination node; coord.ErrRefused if there is none.
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
	var result Ydb_Scheme.ListDirectoryResult
	err := n.call(ctx, "listing", path, &result, func(s services, path string) (reply, error) {
		return s.scheme.ListDirectory(ctx, &Ydb_Scheme.ListDirectoryRequest{Path: path, OperationParams: synchronous})
	})
	return result.GetChildren(), err
}

// services are the clients of the services that are called here.
type services struct {
	coordination Ydb_Coordination_V1.CoordinationServiceClient
	scheme       Ydb_Scheme_V1.SchemeServiceClient
}

type reply interface {
	GetOperation() *Ydb_Operations.Operation
}

// nodeCall makes one call about the node or directory at path.
type nodeCall = func(s services, path string) (reply, error)

// synchronous makes the service answer when the operation is done.
var synchronous = &Ydb_Operations.OperationParams{OperationMode: Ydb_Operations.OperationParams_SYNC}

// call makes a call and reads its result, if that is not nil. Its error names the path.
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
