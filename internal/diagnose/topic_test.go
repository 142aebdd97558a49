package diagnose

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of causes in the help anew")

func TestTheTopicHasTheTableOfPatterns(t *testing.T) {
	t.Parallel()
	const file, head = "../help/why.md", "| pattern | when |\n|---|---|\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), head)
	if !found {
		t.Fatal("the topic has no table of patterns")
	}
	table, after, _ := strings.Cut(rest, "\n\n")
	var want strings.Builder
	for _, p := range Patterns() {
		fmt.Fprintf(&want, "| `%s` | %s |\n", p, p.When())
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+head+want.String()+"\n"+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if table+"\n" != want.String() {
		t.Errorf("the table is\n%s\nwant\n%s", table, want.String())
	}
	for _, s := range []Sure{Told, Inferred, Possible} {
		if !strings.Contains(after, "| `"+s.String()+"` |") {
			t.Errorf("the topic does not say what %v means", s)
		}
	}
}
