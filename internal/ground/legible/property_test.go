package legible_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"coordtop/internal/ground/legible"
)

// seed is where the two drawings of nonces begin.
const seed = 2026

// TestNothingOfANonceIsShown draws nonces of all kinds, with text around them; and as many of
// those kinds that are the hardest to tell from names.
func TestNothingOfANonceIsShown(t *testing.T) {
	t.Parallel()
	n := 100_000
	if testing.Short() {
		n = 50_000
	}
	if all, err := strconv.Atoi(os.Getenv("COORDTOP_TEST_NONCES")); err == nil { // make fuzz
		n = all
	}
	d := drawing{rand.New(rand.NewPCG(seed, 77))}
	for _, draw := range []func() (nonce, value, rest string){d.value, d.hard} {
		for range n {
			nonce, value, rest := draw()
			shown := legible.Part(value)
			if legible.Name(value) {
				shown = value
			}
			if w := leaked(nonce, rest, shown); w != "" {
				t.Errorf("of %q, with the nonce %q, %q is shown", value, nonce, shown)
			}
		}
	}
}

// TestNamesAreShown counts the names of two lists. Words were added to words.txt after the
// first was measured; the second was written afterwards and nothing was added because of it.
func TestNamesAreShown(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"services.txt": 960, "unseen.txt": 850} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		names, shown := 0, 0
		for name := range strings.FieldsSeq(string(text)) {
			names++
			if legible.Name(name) {
				shown++
			}
		}
		t.Logf("%s: %d of %d names are shown", file, shown, names)
		if names != 1000 || shown < least {
			t.Errorf("%s: %d of %d names are shown, want %d of 1000", file, shown, names, least)
		}
	}
}
