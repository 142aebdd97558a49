package ydbtest_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Discovery_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Scheme_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Table_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Discovery"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Operations"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Scheme"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Table"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"coordtop/internal/emulator/ydbtest"
)

// answered is what every unary reply has.
type answered interface {
	GetOperation() *Ydb_Operations.Operation
}

func statusOf(t *testing.T, reply answered, err error) Ydb.StatusIds_StatusCode {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !reply.GetOperation().GetReady() {
		t.Error("the operation is not ready")
	}
	return reply.GetOperation().GetStatus()
}

func TestNodeCallsAnswerByTheTable(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		c, ctx := b.nodes(0), b.ctx
		scheme := Ydb_Scheme_V1.NewSchemeServiceClient(b.conns[0])
		_, err := scheme.MakeDirectory(ctx, &Ydb_Scheme.MakeDirectoryRequest{Path: "/local/dir"})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []struct{ method, path, want string }{
			{"create", node, "SUCCESS"},
			{"create", "/local/a/b/c", "SUCCESS"},
			{"create", "local/relative", "SUCCESS"},
			{"create", "/local/dir", "SCHEME_ERROR"},
			{"create", node + "/below", "SCHEME_ERROR"},
			{"create", "/elsewhere/n", "SCHEME_ERROR"},
			{"create", "", "BAD_REQUEST"},
			{"create", "//", "BAD_REQUEST"},
			{"alter", node, "SUCCESS"},
			{"alter", "/local/none", "SCHEME_ERROR"},
			{"alter", "/local/dir", "SCHEME_ERROR"},
			{"describe", node, "SUCCESS"},
			{"describe", "/local/none", "SCHEME_ERROR"},
			{"describe", "/local/dir", "SCHEME_ERROR"},
			{"drop", "/local/a/b/c", "SUCCESS"},
			{"drop", "/local/a/b/c", "SCHEME_ERROR"},
			{"drop", "/local/dir", "SCHEME_ERROR"},
			{"drop", "/", "BAD_REQUEST"},
		} {
			var reply answered
			switch call.method {
			case "create":
				reply, err = c.CreateNode(ctx, &pb.CreateNodeRequest{Path: call.path})
			case "alter":
				reply, err = c.AlterNode(ctx, &pb.AlterNodeRequest{Path: call.path})
			case "describe":
				reply, err = c.DescribeNode(ctx, &pb.DescribeNodeRequest{Path: call.path})
			case "drop":
				reply, err = c.DropNode(ctx, &pb.DropNodeRequest{Path: call.path})
			}
			if got := statusOf(t, reply, err).String(); got != call.want {
				t.Errorf("%s %q: %s, want %s", call.method, call.path, got, call.want)
			}
		}
	})
}

func TestNamesInPathsAreJudged(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		scheme := Ydb_Scheme_V1.NewSchemeServiceClient(b.conns[0])
		for path, want := range map[string]Ydb.StatusIds_StatusCode{
			"/local/-_.!\"#$%&'()*+,:;<=>?@[\\]^`{|}~": Ydb.StatusIds_SUCCESS,
			"/local/..dots.":                     Ydb.StatusIds_SUCCESS,
			"/local/" + strings.Repeat("n", 255): Ydb.StatusIds_SUCCESS,
			"/local" + strings.Repeat("/d", 31):  Ydb.StatusIds_SUCCESS,
			"/local/a blank":                     Ydb.StatusIds_SCHEME_ERROR,
			"/local/bell\a/n":                    Ydb.StatusIds_SCHEME_ERROR,
			"/local/\x7f":                        Ydb.StatusIds_SCHEME_ERROR,
			"/local/größe":                       Ydb.StatusIds_SCHEME_ERROR,
			"/local/../n":                        Ydb.StatusIds_SCHEME_ERROR,
			"/local/.":                           Ydb.StatusIds_SCHEME_ERROR,
			"/local/" + strings.Repeat("n", 256): Ydb.StatusIds_SCHEME_ERROR,
			"/local" + strings.Repeat("/e", 32):  Ydb.StatusIds_SCHEME_ERROR,
		} {
			dir, err := scheme.MakeDirectory(b.ctx, &Ydb_Scheme.MakeDirectoryRequest{Path: path})
			if got := statusOf(t, dir, err); got != want {
				t.Errorf("directory %q: %v, want %v", path, got, want)
			}
			if _, err := scheme.RemoveDirectory(b.ctx, &Ydb_Scheme.RemoveDirectoryRequest{Path: path}); err != nil {
				t.Fatal(err)
			}
			made, err := b.nodes(0).CreateNode(b.ctx, &pb.CreateNodeRequest{Path: path})
			if got := statusOf(t, made, err); got != want {
				t.Errorf("node %q: %v, want %v", path, got, want)
			}
		}
	})
}

func TestConfigMayNotNameItsPath(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		c, ctx := b.nodes(0), b.ctx
		config := &pb.Config{Path: "/local/x", SelfCheckPeriodMillis: 7}
		for path, want := range map[string]Ydb.StatusIds_StatusCode{
			node: Ydb.StatusIds_GENERIC_ERROR, "/local/x": Ydb.StatusIds_SCHEME_ERROR,
		} {
			altered, err := c.AlterNode(ctx, &pb.AlterNodeRequest{Path: path, Config: config})
			if got := statusOf(t, altered, err); got != want {
				t.Errorf("altering %s: %v, want %v", path, got, want)
			}
			made, err := c.CreateNode(ctx, &pb.CreateNodeRequest{Path: path, Config: config})
			if got := statusOf(t, made, err); got != Ydb.StatusIds_GENERIC_ERROR {
				t.Errorf("making %s: %v", path, got)
			}
		}
		described, err := c.DescribeNode(ctx, &pb.DescribeNodeRequest{Path: node})
		statusOf(t, described, err)
		var result pb.DescribeNodeResult
		if err := described.GetOperation().GetResult().UnmarshalTo(&result); err != nil {
			t.Fatal(err)
		}
		if result.GetConfig().GetSelfCheckPeriodMillis() != 0 {
			t.Errorf("a refused alter left %v", result.GetConfig())
		}
	})
}

func TestDescribedNodeHasOnlyWhatWasSet(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		c, ctx := b.nodes(0), b.ctx
		reply, err := c.AlterNode(ctx, &pb.AlterNodeRequest{Path: node, Config: &pb.Config{
			SessionGracePeriodMillis: 5,
		}})
		statusOf(t, reply, err)
		reply2, err := c.CreateNode(ctx, &pb.CreateNodeRequest{Path: node, Config: &pb.Config{SelfCheckPeriodMillis: 7}})
		statusOf(t, reply2, err)
		described, err := c.DescribeNode(ctx, &pb.DescribeNodeRequest{Path: node})
		statusOf(t, described, err)
		var result pb.DescribeNodeResult
		if err := described.GetOperation().GetResult().UnmarshalTo(&result); err != nil {
			t.Fatal(err)
		}
		self, config := result.GetSelf(), result.GetConfig()
		if self.GetName() != "n" || self.GetType() != Ydb_Scheme.Entry_COORDINATION_NODE || self.GetOwner() == "" {
			t.Errorf("self is %v", self)
		}
		if config.GetSessionGracePeriodMillis() != 5 || config.GetSelfCheckPeriodMillis() != 0 || config.GetPath() != "" ||
			config.GetReadConsistencyMode() != pb.ConsistencyMode_CONSISTENCY_MODE_UNSET {
			t.Errorf("config is %v", config)
		}
	})
}

func TestDatabaseMayBeDeepInTheTree(t *testing.T) {
	t.Parallel()
	server, err := ydbtest.Start(ydbtest.Options{Database: "/Root/a/b", FrontEnds: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db := openDriver(t, server.URL(0))
	ctx := t.Context()
	if err := db.Coordination().CreateNode(ctx, db.Name()+"/n", coordination.NodeConfig{}); err != nil {
		t.Error(err)
	}
	if err := db.Coordination().CreateNode(ctx, "/Root/a/n", coordination.NodeConfig{}); !ydb.IsOperationErrorSchemeError(err) {
		t.Errorf("a node outside of the database: %v", err)
	}
	if err := db.Coordination().DropNode(ctx, db.Name()+"/n"); err != nil {
		t.Error(err)
	}
	if err := db.Scheme().RemoveDirectory(ctx, db.Name()); !ydb.IsOperationErrorSchemeError(err) {
		t.Errorf("removing the database: %v", err)
	}
}

func TestSchemeCallsAnswerByTheTable(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		c, ctx := Ydb_Scheme_V1.NewSchemeServiceClient(b.conns[0]), b.ctx
		for _, call := range []struct{ method, path, want string }{
			{"make", "/local/d/e", "SUCCESS"},
			{"make", "/local/d/e", "SUCCESS"},
			{"make", node, "SCHEME_ERROR"},
			{"make", "", "BAD_REQUEST"},
			{"list", "/local/d", "SUCCESS"},
			{"list", "/", "SUCCESS"},
			{"list", node, "SUCCESS"},
			{"list", "/local/none", "SCHEME_ERROR"},
			{"describe", "/local/d", "SUCCESS"},
			{"describe", "/local/none", "SCHEME_ERROR"},
			{"remove", "/local/d", "SCHEME_ERROR"},
			{"remove", node, "SCHEME_ERROR"},
			{"remove", "/local/d/e", "SUCCESS"},
			{"remove", "/local/d/e", "SCHEME_ERROR"},
			{"remove", "/local", "SCHEME_ERROR"},
			{"remove", "", "BAD_REQUEST"},
			{"permissions", node, "SUCCESS"},
			{"permissions", "/local/none", "SCHEME_ERROR"},
		} {
			var reply answered
			var err error
			switch call.method {
			case "make":
				reply, err = c.MakeDirectory(ctx, &Ydb_Scheme.MakeDirectoryRequest{Path: call.path})
			case "remove":
				reply, err = c.RemoveDirectory(ctx, &Ydb_Scheme.RemoveDirectoryRequest{Path: call.path})
			case "list":
				reply, err = c.ListDirectory(ctx, &Ydb_Scheme.ListDirectoryRequest{Path: call.path})
			case "describe":
				reply, err = c.DescribePath(ctx, &Ydb_Scheme.DescribePathRequest{Path: call.path})
			case "permissions":
				reply, err = c.ModifyPermissions(ctx, &Ydb_Scheme.ModifyPermissionsRequest{Path: call.path})
			}
			if got := statusOf(t, reply, err).String(); got != call.want {
				t.Errorf("%s %q: %s, want %s", call.method, call.path, got, call.want)
			}
		}
		listed, err := c.ListDirectory(ctx, &Ydb_Scheme.ListDirectoryRequest{Path: "/local"})
		statusOf(t, listed, err)
		var result Ydb_Scheme.ListDirectoryResult
		if err := listed.GetOperation().GetResult().UnmarshalTo(&result); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range result.GetChildren() {
			got = append(got, e.GetName()+" "+e.GetType().String())
		}
		if strings.Join(got, ", ") != "d DIRECTORY, n COORDINATION_NODE" || result.GetSelf().GetName() != "local" {
			t.Errorf("listed %q in %v", got, result.GetSelf())
		}
	})
}

func TestModifiedPermissionsAreDescribed(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		c, ctx := Ydb_Scheme_V1.NewSchemeServiceClient(b.conns[0]), b.ctx
		perm := func(subject string, names ...string) *Ydb_Scheme.Permissions {
			return &Ydb_Scheme.Permissions{Subject: subject, PermissionNames: names}
		}
		reply, err := c.ModifyPermissions(ctx, &Ydb_Scheme.ModifyPermissionsRequest{Path: node, Actions: []*Ydb_Scheme.PermissionsAction{
			{Action: &Ydb_Scheme.PermissionsAction_Grant{Grant: perm("a", "read", "write")}},
			{Action: &Ydb_Scheme.PermissionsAction_Grant{Grant: perm("b", "read")}},
			{Action: &Ydb_Scheme.PermissionsAction_Revoke{Revoke: perm("a", "read")}},
			{Action: &Ydb_Scheme.PermissionsAction_Set{Set: perm("b", "erase")}},
			{Action: &Ydb_Scheme.PermissionsAction_ChangeOwner{ChangeOwner: "me"}},
		}})
		statusOf(t, reply, err)
		described, err := c.DescribePath(ctx, &Ydb_Scheme.DescribePathRequest{Path: node})
		statusOf(t, described, err)
		var result Ydb_Scheme.DescribePathResult
		if err := described.GetOperation().GetResult().UnmarshalTo(&result); err != nil {
			t.Fatal(err)
		}
		self := result.GetSelf()
		var got []string
		for _, p := range self.GetPermissions() {
			got = append(got, p.GetSubject()+":"+strings.Join(p.GetPermissionNames(), "+"))
		}
		if strings.Join(got, " ") != "a:write b:erase" || self.GetOwner() != "me" || len(self.GetEffectivePermissions()) != 2 {
			t.Errorf("described %q in %v", got, self)
		}
	})
}

func TestDiscoveryAnswersWithTheDialledAddress(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{AdvertiseAll: true}, grpc.WithAuthority("db.example:4321"))
	c := Ydb_Discovery_V1.NewDiscoveryServiceClient(b.conns[1])
	reply, err := c.ListEndpoints(b.ctx, &Ydb_Discovery.ListEndpointsRequest{Database: b.Database()})
	statusOf(t, reply, err)
	var result Ydb_Discovery.ListEndpointsResult
	if err := reply.GetOperation().GetResult().UnmarshalTo(&result); err != nil {
		t.Fatal(err)
	}
	all := result.GetEndpoints()
	if len(all) != 2 || all[0].GetAddress() != "db.example" || all[0].GetPort() != 4321 || all[0].GetNodeId() != 2 || all[0].GetSsl() {
		t.Fatalf("endpoints are %v", all)
	}
	if all[1].GetAddress() != "127.0.0.1" || all[1].GetNodeId() != 1 || !strings.HasSuffix(b.Endpoint(0), portOf(all[1])) {
		t.Errorf("the other endpoint is %v, want %s", all[1], b.Endpoint(0))
	}
	plain := start(t, ydbtest.Options{})
	reply, err = Ydb_Discovery_V1.NewDiscoveryServiceClient(plain.conns[0]).ListEndpoints(b.ctx, &Ydb_Discovery.ListEndpointsRequest{})
	statusOf(t, reply, err)
	if err := reply.GetOperation().GetResult().UnmarshalTo(&result); err != nil {
		t.Fatal(err)
	}
	if all := result.GetEndpoints(); len(all) != 1 || !strings.HasSuffix(plain.Endpoint(0), portOf(all[0])) {
		t.Errorf("endpoints are %v, want %s only", all, plain.Endpoint(0))
	}
}

func portOf(e *Ydb_Discovery.EndpointInfo) string {
	return ":" + big.NewInt(int64(e.GetPort())).String()
}

func TestUnknownServiceIsUnimplemented(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		_, err := Ydb_Table_V1.NewTableServiceClient(b.conns[0]).CreateSession(b.ctx, &Ydb_Table.CreateSessionRequest{})
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("a table session: %v", err)
		}
	})
}
