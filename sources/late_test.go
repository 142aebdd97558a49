package sources

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNobodyIsLateBeforeLateAt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ago := func(name string) time.Time {
			return t0.Add(-time.Duration(rapid.IntRange(0, 60_000).Draw(t, name)) * time.Millisecond)
		}
		row := &Row{Primitive: &Primitive{Kind: KindElection}}
		row.Kind = rapid.SampledFrom([]Kind{KindElection, KindMutex}).Draw(t, "kind")
		for range rapid.IntRange(0, 3).Draw(t, "owners") {
			row.Owners = append(row.Owners, Owner{
				Rhythm:   RhythmOf(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "every"))*time.Millisecond, rapid.IntRange(0, 5).Draw(t, "renewals")),
				NoExpiry: rapid.Bool().Draw(t, "endless"),
				Lease:    time.Duration(rapid.IntRange(0, 30).Draw(t, "lease")) * time.Second,
				Expires:  StampBetween(ago("end").Add(30*time.Second), ago("end").Add(45*time.Second), rapid.SampledFrom([]Known{Unknown, Told}).Draw(t, "told")),
				Since:    Stamp{At: ago("since"), How: rapid.SampledFrom([]Known{AtLeast, Seen}).Draw(t, "since")},
				Renewed:  Stamp{At: ago("renewed"), How: rapid.SampledFrom([]Known{Unknown, Seen}).Draw(t, "renewed")},
			})
		}
		at := row.LateAt(DefaultThresholds())
		for s := range 120 {
			now := t0.Add(time.Duration(s-60) * time.Second)
			if late := row.late(now, DefaultThresholds()); late && (at.IsZero() || now.Before(at)) {
				t.Fatalf("late %v before it can be", at.Sub(now))
			}
		}
		if !at.IsZero() && !row.late(at.Add(2*time.Millisecond), DefaultThresholds()) {
			t.Fatal("not late when it can be")
		}
	})
}
