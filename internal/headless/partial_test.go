package headless_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// partly is a State whose one source has listed what it knows, and leaves something out.
func partly(now time.Time, partial sources.Partial) *sources.State {
	return &sources.State{
		At: now, Thresholds: sources.DefaultThresholds(),
		Sources: []sources.SourceStatus{{Name: "leases", Type: "redis", Health: sources.HealthLive, Rows: 1}},
		Scopes: []sources.Scope{{Source: "leases", Health: sources.HealthLive, Synced: true, Alive: now,
			About: sources.About{Mode: "tracking", Partial: partial, LeftOut: "name them with ?keys="}}},
		Rows: []*sources.Row{{Primitive: &sources.Primitive{
			Ref: sources.Ref{Source: "leases", Space: "0", Name: "lock:a"}, Kind: sources.KindMutex, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: now,
		}}},
	}
}

// TestAPartialListingNeverPassesForWhole asks for everything, for a name that is there and for one
// that is not.
func TestAPartialListingNeverPassesForWhole(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		partial sources.Partial
		names   []string
		want    error // nil: it is whole for what was asked for
		says    string
		waits   bool
	}{
		{sources.Whole, nil, nil, "", false},
		{sources.Reading, nil, headless.ErrIncomplete, "leases did not finish its listing in time: name them with ?keys=, or give it longer with --timeout", true},
		{sources.Reading, []string{"leases"}, headless.ErrIncomplete, "--timeout", true},
		{sources.Reading, []string{"leases/lock:a"}, nil, "", false},
		{sources.Reading, []string{"leases/lock:b"}, headless.ErrIncomplete, "--timeout", true},
		{sources.TooMany, nil, headless.ErrPartial, "leases is not shown in full: name them with ?keys=", false},
		{sources.Refused, nil, headless.ErrRefused, "leases cannot be watched in full: name them with ?keys=", false},
		{sources.Refused, []string{"leases/lock:a"}, nil, "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out, diag bytes.Buffer
			start := time.Now()
			err := headless.Get(t.Context(), newScript(partly(start, tt.partial)), &out, &diag, headless.GetOptions{
				Format: headless.JSON, Names: tt.names, FailOn: verdict.Any, Timeout: time.Minute,
			})
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, %q: %v", tt.partial, tt.names, err)
			}
			if waited := time.Since(start) > 0; waited != tt.waits {
				t.Errorf("%v, %q: waited %v", tt.partial, tt.names, waited)
			}
			if synced := strings.Contains(out.String(), `"synced":true`); synced != (tt.partial == sources.Whole) {
				t.Errorf("%v: %s", tt.partial, out.String())
			}
		})
	}
}

func TestWaitDoesNotTakeForFreeWhatItDidNotLookAt(t *testing.T) {
	t.Parallel()
	for partial, want := range map[sources.Partial]error{
		sources.Whole: nil, sources.Reading: headless.ErrNotInTime, sources.TooMany: headless.ErrPartial, sources.Refused: headless.ErrRefused,
	} {
		synctest.Test(t, func(t *testing.T) {
			var out, diag bytes.Buffer
			err := headless.Wait(t.Context(), newScript(partly(time.Now(), partial)), &out, &diag, headless.WaitOptions{
				Names: []string{"leases/lock:b"}, For: "free", Watched: func(string) bool { return true }, Timeout: time.Minute,
			})
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%v: %v", partial, err)
			}
		})
	}
}
