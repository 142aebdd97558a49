package verdict

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
)

func TestTheTopicHasTheTableOfProblems(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../internal/help/problems.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, found := strings.Cut(string(data), "| finding | when | grade |\n|---|---|---|\n")
	if !found {
		t.Fatal("the topic has no table of problems")
	}
	rows, _, _ = strings.Cut(rows, "\n\n")
	var want strings.Builder
	for f := range conditions[1:] {
		c := &conditions[f+1]
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", c.name, c.when, c.grade)
	}
	if strings.TrimSpace(rows) != strings.TrimSpace(want.String()) {
		t.Errorf("the table is\n%s\nwant\n%s", rows, want.String())
	}
	limits := sources.DefaultThresholds()
	if limits.NoLeader != 5*time.Second || limits.Wait != 30*time.Second || limits.WaitPerson != 10*time.Minute || limits.Full != 5*time.Minute ||
		limits.Stale != time.Minute || limits.FlapLosses != 2 || limits.FlapWithin != 10*time.Minute || limits.LateLeft != 1.0/3 || limits.LateWorn != 1.0/2 || limits.LateSeen != 3 {
		t.Error("the table has the default thresholds, which are others now")
	}
}
