package ydbcoord_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
)

func TestNodesAreCreatedDescribedAlteredAndDropped(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	n := client(t, b.URL(0)).Nodes()
	config := &pb.Config{
		SelfCheckPeriodMillis: 2000, SessionGracePeriodMillis: 5000, ReadConsistencyMode: pb.ConsistencyMode_CONSISTENCY_MODE_STRICT,
		AttachConsistencyMode: pb.ConsistencyMode_CONSISTENCY_MODE_RELAXED, RateLimiterCountersMode: pb.RateLimiterCountersMode_RATE_LIMITER_COUNTERS_MODE_DETAILED,
	}
	noError(t, n.Create(t.Context(), "dir/one", config))
	if err := n.Create(t.Context(), "dir/one", nil); err != nil {
		t.Errorf("creating what exists: %v", err)
	}
	got, err := n.Describe(t.Context(), "/local/dir/one")
	if err != nil || !proto.Equal(got.Config, config) || got.Path != "/local/dir/one" || got.Owner == "" || got.Incarnation == "" {
		t.Errorf("described as %+v, %v", got, err)
	}
	noError(t, n.Alter(t.Context(), "dir/one", &pb.Config{SelfCheckPeriodMillis: 3000}))
	config.SelfCheckPeriodMillis = 3000
	altered, err := n.Describe(t.Context(), "dir/one")
	if err != nil || !proto.Equal(altered.Config, config) || altered.Incarnation != got.Incarnation {
		t.Errorf("altered to %+v, %v", altered, err)
	}
	noError(t, n.Drop(t.Context(), "dir/one"))
	for what, err := range map[string]error{
		"dropping":  n.Drop(t.Context(), "dir/one"),
		"altering":  n.Alter(t.Context(), "dir/one", config),
		"creating":  n.Create(t.Context(), "dir", config),
		"describin": func() error { _, err := n.Describe(t.Context(), "dir/one"); return err }(),
	} {
		if !errors.Is(err, coord.ErrRefused) {
			t.Errorf("%s what is not there: %v, want ErrRefused", what, err)
		}
	}
	noError(t, n.Create(t.Context(), "dir/one", config))
	if again, err := n.Describe(t.Context(), "dir/one"); err != nil || again.Incarnation == got.Incarnation {
		t.Errorf("created again as %+v, %v", again, err)
	}
	if err := n.Create(t.Context(), "\xff", config); !errors.Is(err, coord.ErrInvalid) {
		t.Errorf("a path that cannot be: %v", err)
	}
}

func TestNodesAreFoundInAllDirectoriesButThoseOfTheSystem(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	n := client(t, b.URL(0)+"?discovery=off").Nodes()
	for _, path := range []string{"a", "d/b", "d/e/c", ".sys/hidden"} {
		noError(t, n.Create(t.Context(), path, nil))
	}
	list := func(root string) (found []string, errs []error) {
		for path, err := range n.List(t.Context(), root) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			found = append(found, path)
		}
		return found, errs
	}
	found, errs := list("")
	slices.Sort(found)
	if want := "[/local/a /local/d/b /local/d/e/c /local/n]"; fmt.Sprint(found) != want || len(errs) != 0 {
		t.Errorf("found %v, %v, want %s", found, errs, want)
	}
	if found, errs := list("d/e"); fmt.Sprint(found) != "[/local/d/e/c]" || len(errs) != 0 {
		t.Errorf("found %v, %v in a directory", found, errs)
	}
	if found, errs := list("missing"); len(found) != 0 || len(errs) != 1 || !errors.Is(errs[0], coord.ErrRefused) {
		t.Errorf("found %v, %v in nothing", found, errs)
	}
	b.FailCalls("ListDirectory", codes.Unavailable, 1)
	if found, errs := list(""); len(found) != 0 || len(errs) != 1 {
		t.Errorf("found %v, %v while that failed", found, errs)
	}
	for range n.List(t.Context(), "") {
		break
	}
}
