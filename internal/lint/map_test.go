//go:build !race

package lint_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheMapNamesWhatIsThere reads the map and the walks of CONTRIBUTING: folders exist, and functions stand in the
// files that are named before them.
func TestTheMapNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	const root = "../.."
	text, err := os.ReadFile(root + "/.github/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tree, _ := strings.Cut(string(text), "## The tree\n")
	tree, _, _ = strings.Cut(tree, "\n## ")
	folders := 0
	for line := range strings.Lines(tree) {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		folders++
		for _, place := range places(strings.Fields(line)[0]) {
			if found, err := filepath.Glob(filepath.Join(root, place)); err != nil || len(found) == 0 {
				t.Errorf("the map names %s, which does not exist: %v", place, err)
			}
		}
	}
	if folders == 0 || folders > 25 {
		t.Errorf("the map has %d lines, at most 25 are read", folders)
	}
	steps := regexp.MustCompile("`([a-z/]+\\.go)`\\s+`([A-Za-z.]+)`").FindAllStringSubmatch(tree, -1)
	for _, step := range steps {
		src, err := os.ReadFile(filepath.Join(root, step[1]))
		if err != nil {
			t.Errorf("a walk names %s: %v", step[1], err)
			continue
		}
		what := `func ` + step[2] + `\(`
		if on, method, ok := strings.Cut(step[2], "."); ok {
			what = `func \(\w+ \*?` + on + `\) ` + method + `\(`
		}
		if !regexp.MustCompile(what).Match(src) {
			t.Errorf("a walk names %s of %s, which is not there", step[2], step[1])
		}
	}
	if len(steps) < 20 {
		t.Errorf("the walks have %d steps", len(steps))
	}
}

// places are the folders that a word of the map names: a/{b,c} are two.
func places(word string) (list []string) {
	word = strings.Trim(word, ",")
	before, inner, braces := strings.Cut(word, "{")
	if !braces {
		return []string{word}
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(inner, "}"), ",") {
		list = append(list, before+name)
	}
	return list
}
