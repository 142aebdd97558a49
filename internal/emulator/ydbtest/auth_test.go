package ydbtest_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"coordtop/internal/emulator/ydbtest"
)

func TestUsersHaveToLogIn(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{Users: map[string]ydbtest.User{
		"ann": {Password: "secret"}, "bob": {Password: "secret", Deny: ydbtest.Write | ydbtest.Erase | ydbtest.List},
	}})
	ctx := t.Context()
	for _, ticket := range []string{"", "a.b.c", "e30.e30.", "..", "x"} {
		_, err := b.nodes(0).DescribeNode(metadata.AppendToOutgoingContext(ctx, "x-ydb-auth-ticket", ticket), &pb.DescribeNodeRequest{Path: node})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("ticket %q: %v", ticket, err)
		}
	}
	b.open(0).wantEnd(codes.Unauthenticated)

	ann := openDriver(t, b.URL(0), ydb.WithStaticCredentials("ann", "secret"))
	who, err := ann.Discovery().WhoAmI(ctx)
	if err != nil || who.User != "ann" {
		t.Errorf("ann is %+v, %v", who, err)
	}
	if err := session(t, ann).CreateSemaphore(ctx, "s", 1); err != nil {
		t.Error(err)
	}
	bob := openDriver(t, b.URL(0), ydb.WithStaticCredentials("bob", "secret"))
	if _, err := ann.Scheme().ListDirectory(ctx, "/local"); err != nil {
		t.Error(err)
	}
	if _, err := bob.Scheme().ListDirectory(ctx, "/local"); !ydb.IsOperationError(err, Ydb.StatusIds_UNAUTHORIZED) {
		t.Errorf("bob listed the database: %v", err)
	}
	if _, err := session(t, bob).AcquireSemaphore(ctx, "s", 1); err == nil {
		t.Error("bob acquired what he may not")
	}

	for _, user := range []string{"ann", "nobody"} {
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		db, err := ydb.Open(short, b.URL(0), ydb.WithStaticCredentials(user, "wrong"))
		cancel()
		if err == nil {
			_ = db.Close(ctx)
			t.Errorf("%s came in with another password", user)
		}
	}
}

func TestEncryptedServerIsDiscoveredAsSuch(t *testing.T) {
	t.Parallel()
	config, pool := certificate(t)
	b, err := ydbtest.Start(ydbtest.Options{TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	if err := b.CreateNode(node); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.URL(0), "grpcs://") {
		t.Errorf("the URL is %s", b.URL(0))
	}
	db := openDriver(t, b.URL(0), ydb.WithCertificatesFromPem(pool))
	lease, err := session(t, db).AcquireSemaphore(t.Context(), "e", 1)
	if err == nil {
		t.Errorf("acquired %v, which does not exist", lease)
	}
}

// certificate makes a certificate for 127.0.0.1 that signs itself.
func certificate(t *testing.T) (*tls.Config, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return config, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestCloseDoesNotWaitForAnEncryptedBlackHole(t *testing.T) {
	t.Parallel()
	config, _ := certificate(t)
	bubble(t, ydbtest.Options{TLS: config}, func(t *testing.T, b *bench) {
		// The bubble's clock is in the past of the certificate.
		b.conns[0] = b.dial(0, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})))
		messages := b.session(0, time.Minute).serve()
		b.BlackHole(0, true)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if _, ok := <-messages; ok {
			t.Error("a message came after Close")
		}
	})
}

func TestWhoLacksARightIsRefusedByTheCallsOfNodesAndDirectories(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{Users: map[string]ydbtest.User{
		"ann": {Password: "secret"}, "bob": {Password: "secret", Deny: ydbtest.Write | ydbtest.Erase | ydbtest.List},
	}})
	ctx := t.Context()
	config := coordination.NodeConfig{SelfCheckPeriodMillis: 1000}
	for user, may := range map[string]bool{"ann": true, "bob": false} {
		db := openDriver(t, b.URL(0), ydb.WithStaticCredentials(user, "secret"))
		nodes, scheme := db.Coordination(), db.Scheme()
		path := "/local/of-" + user
		describe := func() error { _, _, err := nodes.DescribeNode(ctx, node); return err }
		for _, call := range []struct {
			name string
			do   func() error
		}{
			{"CreateNode", func() error { return nodes.CreateNode(ctx, path, config) }},
			{"AlterNode", func() error { return nodes.AlterNode(ctx, path, config) }},
			{"DescribeNode", describe},
			{"DropNode", func() error { return nodes.DropNode(ctx, path) }},
			{"MakeDirectory", func() error { return scheme.MakeDirectory(ctx, path+"-d") }},
			{"RemoveDirectory", func() error { return scheme.RemoveDirectory(ctx, path+"-d") }},
		} {
			switch err := call.do(); {
			case may && err != nil:
				t.Errorf("%s of %s: %v", call.name, user, err)
			case !may && !ydb.IsOperationError(err, Ydb.StatusIds_UNAUTHORIZED):
				t.Errorf("%s of %s: %v, want UNAUTHORIZED", call.name, user, err)
			}
		}
	}
}
