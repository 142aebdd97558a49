package rediscoord

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// The quick look must not keep a value from the search that would find something in it.
func TestWhatIsNotSearchedHasNoTimeInIt(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"ts", "at", "renewedAt", `"`, ":", "=", " ", "\t", "1", "17", "2026-01-02", "T03:04:05Z", "-", "host", ",", "x"})
	rapid.Check(t, func(t *rapid.T) {
		value := []byte(rapid.StringOf(rapid.SampledFrom([]rune("a:= \"17-"))).Draw(t, "noise"))
		for _, p := range rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces") {
			value = append(value, p...)
		}
		if blanks := bytes.Repeat([]byte{' '}, 10); !mayHoldTime(value) && !bytes.Contains(value, blanks) && rewritten().Match(value) {
			t.Fatalf("%q is not searched", value)
		}
	})
}

// BenchmarkOwnerOf measures values that nobody can say much about.
func BenchmarkOwnerOf(b *testing.B) {
	for name, value := range map[string][]byte{"name": []byte("host-17:4711"), "json": []byte(`{"id":"x7","renewedAt":"2026-01-02T03:04:05Z"}`), "4kB": bytes.Repeat([]byte("x"), 4096)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				OwnerOf(value)
			}
		})
	}
}
