package lockformat

import (
	"testing"

	"coordtop/sources"
)

// TestOnlyAValueThatEachTakeDrawsProvesAGrant reads values of a take, and those that a client, a
// process or a lock keeps for all its takes, as may a program of one's own that writes like a library.
func TestOnlyAValueThatEachTakeDrawsProvesAGrant(t *testing.T) {
	t.Parallel()
	uuid1, hex, base64 := "5d1c8f0a9b7811ee8c990242ac120002", "0123456789abcdef0123456789abcdef", "q83vEjRWeJC83vEjRWeJCA=="
	for _, c := range []struct {
		key, value string
		kind       sources.Kind
		proves     bool
	}{
		{"app:lock:a", uuid1, sources.KindUnknown, true},
		{"app:lock:a", hex, sources.KindUnknown, false},
		{"app:lock:a", base64, sources.KindUnknown, false},
		{"app:leader:a", hex, sources.KindElection, false},
		{"app:leader:a", "8e3f6a54-8d1b-4c55-9a01-0d4b7c3f2a11", sources.KindElection, false},
		{"app:lock:a", "8e3f6a54-8d1b-4c55-9a01-0d4b7c3f2a11", sources.KindUnknown, false},
		{"app:leader:a", "host-1:1", sources.KindUnknown, false},
		{"laravel_cache_:a", "aB3dE6gH9jK2mN5p", sources.KindUnknown, false},
	} {
		l := Read(c.key, &Content{Type: String, Text: []byte(c.value), Size: len(c.value), Leased: true}, nil, Options{Kind: c.kind})
		if len(l.Owners) != 1 || (l.Owners[0].Proof != 0) != c.proves {
			t.Errorf("%s with %s, of %s: %+v, want a proof: %v", c.key, c.value, l.Program, l.Owners, c.proves)
		}
	}
}
