package diagnose

import (
	"os"
	"strings"
	"testing"
)

func TestTheTopicHasEachPatternAndEachWordForHowSureItIs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../help/why.md")
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(string(data), "## How sure")
	for _, p := range all {
		if !strings.Contains(before, "| `"+p.String()+"` | ") {
			t.Errorf("the topic does not say when %v is found", p)
		}
	}
	if n := strings.Count(before, "\n| `"); n != len(all) {
		t.Errorf("the topic has %d patterns, want %d", n, len(all))
	}
	for _, s := range []Sure{Told, Inferred, Possible} {
		if !strings.Contains(after, "| `"+s.String()+"` |") {
			t.Errorf("the topic does not say what %v means", s)
		}
	}
}
