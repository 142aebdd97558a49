package paint

import (
	"testing"
	"time"
)

func TestLowerBoundsAreNotCountedInSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		9 * time.Second: "0s", 59 * time.Second: "50s", 119 * time.Second: "1m", 9*time.Minute + 59*time.Second: "9m", 3*time.Hour + 12*time.Minute: "3h12m",
	} {
		if got := coarse(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
