package help

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryFileIsATopicWithATitle(t *testing.T) {
	t.Parallel()
	var found []string
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".md"); name != "pictures" {
			found = append(found, name)
		}
	}
	names := slices.Sorted(slices.Values(Names()))
	if !slices.Equal(found, names) {
		t.Errorf("the files are %q, the topics %q", found, names)
	}
	for _, topic := range Topics() {
		if topic.Title == "" || !strings.HasPrefix(topic.Text, "# ") {
			t.Errorf("%s has no title such as `# Name: what it is about`", topic.Name)
		}
	}
}

func TestTopicsAreTakenApart(t *testing.T) {
	t.Parallel()
	topic := Topic{Text: "# A: b\n\nOne\n[two](x.md) `c`.\n\n## H\n\n| k | v | w |\n|---|---|---|\n| `a\\|b` | c | |\n\n- x\n  y\n1. z\n\n    code  here\n"}
	var got []string
	for _, b := range topic.Blocks() {
		got = append(got, strings.Repeat(">", int(b.Kind))+b.Under+"/"+strings.Join(b.Cells, "/"))
	}
	want := []string{"b/A: b", ">b/One two `c`.", "H/H", ">>>H/`a|b`/c/", ">>H/x y", ">>H/z", ">>>>H/code  here"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	screen := Screen(topic.Blocks(), 25, func(s string) string { return "<" + s + ">" })
	if want := "<A:> <b>\n\n  One two <c>.\n\n<H>\n\n  <a|b>               v:\n                      c\n\n  - x y\n  - z\n\n      code  here\n"; screen != want {
		t.Errorf("the screen is\n%s", screen)
	}
	if plain := Screen(topic.Blocks(), 20, nil); !strings.Contains(plain, "`c`") {
		t.Errorf("the screen is\n%s", plain)
	}
}

func TestATopicIsNoWiderThanTheScreen(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`\S{40}`)
	for _, topic := range Topics() {
		for line := range strings.Lines(Screen(topic.Blocks(), 60, nil)) {
			if len([]rune(line)) > 61 && !word.MatchString(line) {
				t.Errorf("%s is too wide: %s", topic.Name, line)
			}
		}
	}
}

func TestWordsAreFoundInAPartAndItsHeading(t *testing.T) {
	t.Parallel()
	topic := Topic{Name: "n", Text: "## Redis\n\nLocks of Redisson.\n\nKeys.\n\n## Other\n"}
	for words, want := range map[string]string{
		"redisson": "n: Redis/Locks of Redisson.", "redis locks": "n: Redis/Locks of Redisson.", "redis": "n: Redis/Locks of Redisson.",
		"locks postgres": "", "redis keys": "n: Redis/Keys.", "other": "n: Other", "": "n: Redis/Locks of Redisson./Keys./n: Other",
	} {
		var got []string
		for _, b := range topic.Search(strings.Fields(words)) {
			got = append(got, b.Cells[0])
		}
		if strings.Join(got, "/") != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// TestLinksLeadSomewhere looks at every link to a file of the tree.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)[^)]*\)|(?:src|srcset)="([^"]+)"`)
	for _, pattern := range []string{"*.md", "../../README.md", "../../.github/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range found {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1]+m[2])); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
			for _, m := range regexp.MustCompile("`coordtop help ([a-z-]+)`").FindAllStringSubmatch(string(text), -1) {
				if !slices.Contains(Names(), m[1]) {
					t.Errorf("%s names the topic %s, which is none", file, m[1])
				}
			}
		}
	}
}

func TestTheReadmeIsShortAndNamesAllTopics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 150 || len(text) > 12<<10 {
		t.Errorf("the README has %d lines and %d bytes, 150 and 12 kB at most: what is no first need belongs to a topic", lines, len(text))
	}
	wanted := []string{"make demo", "make install", "make test", "CONTRIBUTING", "SECURITY"}
	for _, name := range Names() {
		wanted = append(wanted, fmt.Sprintf("[%s](internal/help/%[1]s.md)", name))
	}
	for _, want := range wanted {
		if !strings.Contains(string(text), want) {
			t.Errorf("the README does not name %s", want)
		}
	}
}
