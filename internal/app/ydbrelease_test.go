package app

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
)

// keyless is a session of another program without a protection key, as those of JavaScript and
// Python.
type keyless struct {
	t    *testing.T
	call Ydb_Coordination_V1.CoordinationService_SessionClient
	got  chan *pb.SessionResponse // all but pings
}

func newKeyless(t *testing.T, server *ydbtest.Server) *keyless {
	t.Helper()
	conn, err := grpc.NewClient(server.Endpoint(0), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	call, err := Ydb_Coordination_V1.NewCoordinationServiceClient(conn).Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	k := &keyless{t, call, make(chan *pb.SessionResponse, 100)}
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done; _ = conn.Close() }) // nothing is left on it
	k.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{
		SessionStart: &pb.SessionRequest_SessionStart{Path: ydbNode, TimeoutMillis: 30_000},
	}})
	go func() { // joined by the clean-up
		defer close(done)
		for {
			msg, err := call.Recv()
			if err != nil {
				return
			}
			if p := msg.GetPing(); p != nil {
				_ = call.Send(&pb.SessionRequest{Request: &pb.SessionRequest_Pong{Pong: &pb.SessionRequest_PingPong{Opaque: p.GetOpaque()}}})
				continue
			}
			k.got <- msg
		}
	}()
	<-k.got
	return k
}

func (k *keyless) send(m *pb.SessionRequest) {
	k.t.Helper()
	if err := k.call.Send(m); err != nil {
		k.t.Fatal(err)
	}
}

func (k *keyless) acquire(name string, count uint64) {
	k.t.Helper()
	k.send(&pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{AcquireSemaphore: &pb.SessionRequest_AcquireSemaphore{
		ReqId: 1, Name: name, Count: count, Ephemeral: count == math.MaxUint64, Data: []byte("host-1:1"), TimeoutMillis: math.MaxUint64,
	}}})
	<-k.got
}

func (k *keyless) release(name string) {
	k.t.Helper()
	k.send(&pb.SessionRequest{Request: &pb.SessionRequest_ReleaseSemaphore_{ReleaseSemaphore: &pb.SessionRequest_ReleaseSemaphore{ReqId: 2, Name: name}}})
	<-k.got
}

// ydbConfig is a config with one source, of which one election is watched, and which allows that.
func ydbConfig(s *ydbtest.Server, allows, election string) string {
	return fmt.Sprintf("sources:\n  - name: y\n    url: %s\n    %s\n    watch:\n      - {election: %s, node: %s}\n", s.URL(0), allows, election, ydbNode)
}

func TestReleaseOnYDBDoesWhatItsSourceAllows(t *testing.T) {
	t.Parallel()
	confirmed := []string{"--write", "--yes"}
	for name, c := range map[string]struct {
		allows, row  string
		code         int
		result, says string
		left         string // what is owned afterwards
	}{
		"nothing by default":                 {"", "primary", exitCannot, "", "it ends when its program ends", "m primary"},
		"the session, with all that it owns": {"clients_unprotected: true", "primary", exitOK, "done", "these fall too: m", ""},
		"a semaphore made anew":              {"allow_recreate: true", "primary", exitOK, "done", "for all its owners (1) and waiters (0)", "m"},
		"no ephemeral one made anew":         {"allow_recreate: true", "m", exitCannot, "", "cannot be deleted", "m primary"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.code == exitOK && testing.Short() {
				t.Skip("it waits ten seconds for the source to see the release; the tests of the board see one")
			}
			s := ydbForTest(t, ydbtest.Options{})
			k := newKeyless(t, s)
			k.acquire("primary", 1)
			k.acquire("m", math.MaxUint64)
			w := newWorld(t)
			w.write(t, configFile, ydbConfig(s, c.allows, "primary")+"      - {mutex: m, node: /local/app}\n")
			guard := fmt.Sprintf("%d/%d", s.Owners(ydbNode, c.row)[0].SessionID, s.Owners(ydbNode, c.row)[0].OrderID)
			code, line := releases(t, w, "y/"+c.row, guard, confirmed...)
			if code != c.code || line.Result != c.result || !strings.Contains(w.stderr.String(), c.says) {
				t.Errorf("exit code %d, printed %+v: %s", code, line, w.stderr)
			}
			var left []string
			for _, sem := range s.Semaphores(ydbNode) {
				if len(sem.Owners) > 0 {
					left = append(left, sem.Name)
				}
			}
			if got := strings.Join(left, " "); got != c.left {
				t.Errorf("owned are %q, want %q", got, c.left)
			}
			if sem, err := s.Semaphore(ydbNode, "primary"); err != nil || sem.Limit != 1 || string(sem.Data) != "data of primary" {
				t.Errorf("primary is %+v, %v", sem, err)
			}
		})
	}
}

func TestReleaseOfASemaphoreThatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	w := newWorld(t)
	w.write(t, configFile, ydbConfig(s, "clients_unprotected: true", "primry"))
	code, line := releases(t, w, "y/primry", "1/1", "--write", "--yes")
	if code != exitNotFound || line.Result != "" || !strings.Contains(w.stderr.String(), "nothing was released: not found: the server has none of this name") {
		t.Errorf("exit code %d, printed %+v: %s", code, line, w.stderr)
	}
}

func TestReleaseOnYDBReadsTheOwnerAtTheLastInstant(t *testing.T) {
	t.Parallel()
	for _, allows := range []string{"clients_unprotected: true", "allow_recreate: true"} {
		s := ydbForTest(t, ydbtest.Options{})
		k := newKeyless(t, s)
		k.acquire("primary", 1)
		w := newWorld(t)
		w.write(t, configFile, ydbConfig(s, allows, "primary"))
		guard := fmt.Sprintf("%d/%d", s.Owners(ydbNode, "primary")[0].SessionID, s.Owners(ydbNode, "primary")[0].OrderID)
		w.wrapDriver = func(d coord.Driver) coord.Driver {
			return lastInstant{d, func() { // the same session, with another order id
				k.release("primary")
				k.acquire("primary", 1)
			}}
		}
		if code, line := releases(t, w, "y/primary", guard, "--write", "--yes"); code != exitChanged || line.Result != "missed" {
			t.Errorf("%s: exit code %d, printed %+v: %s", allows, code, line, w.stderr)
		}
		if owners := s.Owners(ydbNode, "primary"); len(owners) != 1 {
			t.Errorf("%s: owned by %v", allows, owners)
		}
	}
}
