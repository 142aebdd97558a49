package ydbcoord

import (
	"math"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Issue"
	"google.golang.org/protobuf/proto"

	"coordtop/coord"
)

func TestTimeoutsNeverGetShorterAndStayWithinWhatTheServiceTakes(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]uint64{
		0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 24 * time.Hour: 86_400_000,
		24*time.Hour + 1: math.MaxUint64, coord.Forever: math.MaxUint64, math.MaxInt64: math.MaxUint64,
	} {
		if got := timeoutMillis(wait); got != want {
			t.Errorf("%v is sent as %d, want %d", wait, got, want)
		}
	}
	for millis, want := range map[uint64]time.Duration{
		0: 0, 1500: 1500 * time.Millisecond, math.MaxUint64: coord.Forever, math.MaxUint64 - 1: coord.Forever, math.MaxInt64: coord.Forever,
	} {
		if got := durationOf(millis); got != want {
			t.Errorf("%d is read as %v, want %v", millis, got, want)
		}
	}
}

func FuzzMessagesOfTheService(f *testing.F) {
	for _, seed := range []*pb.SessionResponse{
		{Response: &pb.SessionResponse_DescribeSemaphoreResult_{DescribeSemaphoreResult: &pb.SessionResponse_DescribeSemaphoreResult{
			ReqId: 1, Status: Ydb.StatusIds_SUCCESS, SemaphoreDescription: &pb.SemaphoreDescription{
				Name: "n", Data: []byte{0, 255}, Limit: math.MaxUint64, Ephemeral: true, Count: math.MaxUint64,
				Owners:  []*pb.SemaphoreSession{{SessionId: 1, OrderId: 2, Count: math.MaxUint64}, nil},
				Waiters: []*pb.SemaphoreSession{{SessionId: 2, OrderId: 1, TimeoutMillis: math.MaxUint64}},
			},
		}}},
		{Response: &pb.SessionResponse_AcquireSemaphoreResult_{AcquireSemaphoreResult: &pb.SessionResponse_AcquireSemaphoreResult{
			ReqId: 7, Status: 1, Issues: []*Ydb_Issue.IssueMessage{{Message: "\x1b[31m"}, nil},
		}}},
		{},
	} {
		raw, err := proto.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var msg pb.SessionResponse
		if proto.Unmarshal(raw, &msg) != nil {
			return
		}
		_, err, _ := answerOf(&msg)
		if err != nil && (!utf8.ValidString(err.Error()) || len(err.Error()) > 400) {
			t.Errorf("the error is %q", err)
		}
		sem := decodeSemaphore("n", msg.GetDescribeSemaphoreResult().GetSemaphoreDescription())
		for _, kind := range []coord.Kind{coord.KindMutex, coord.KindSemaphore, coord.KindElection} {
			d := SemaphoreState{Semaphore: sem}.describe(kind, "")
			if len(d.Owners) != len(sem.Owners) || len(d.Waiters) != len(sem.Waiters) {
				t.Errorf("described as %+v", d)
			}
		}
		for i, l := range sem.Waiters {
			if l.Timeout < coord.Forever || i > 0 && l.Order < sem.Waiters[i-1].Order {
				t.Errorf("waiters %+v", sem.Waiters)
			}
		}
	})
}
