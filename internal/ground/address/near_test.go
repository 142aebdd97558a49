package address

import "testing"

func TestNearFindsWhatWasMeant(t *testing.T) {
	t.Parallel()
	known := []string{"keys", "election", "mutex", "semaphore", "locks"}
	for _, c := range []struct{ text, want string }{
		{"elction", "election"}, {"elcetion", "election"}, {"Elections", "election"}, {"mutx", "mutex"}, {"mutexes", "mutex"},
		{"kyes", "keys"}, {"key", "keys"}, {"lock", "locks"}, {"semaphor", "semaphore"}, {"keys", "keys"},
		{"ky", ""}, {"leader", ""}, {"", ""}, {"e", ""}, {"electors", ""}, {"mstr", ""},
	} {
		if got := Near(c.text, known...); got != c.want {
			t.Errorf("%q is near %q, want %q", c.text, got, c.want)
		}
	}
	if got := Near("x"); got != "" {
		t.Errorf("near %q although nothing is known", got)
	}
}
