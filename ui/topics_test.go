package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"coordtop/internal/help"
	"coordtop/ui/screen"
)

// TestTheBoardTopicHasTheTableOfKeys compares it with the help of the board; -update writes it anew.
func TestTheBoardTopicHasTheTableOfKeys(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	for _, l := range screen.HelpLines(&hand().Scene, "") {
		switch name := ""; {
		case l.Title == "TOPICS":
		case l.Title != "":
			fmt.Fprintf(&table, "\n### %s%s\n\n| keys | | |\n|---|---|---|\n", l.Title[:1], strings.ToLower(l.Title[1:]))
		case l.Binding.Intent != "":
			if l.ID != "" {
				name = "`" + l.ID + "`"
			}
			fmt.Fprintf(&table, "| `%s` | %s | %s |\n", strings.NewReplacer(" ", "` `", "|", `\|`).Replace(l.Keys.Text), strings.ReplaceAll(l.Text, "|", `\|`), name)
		}
	}
	_, want, _ := strings.Cut(table.String(), "\n\n| keys | | |\n|---|---|---|\n\n") // without the signs
	const file, title = "../internal/help/board.md", "\n## All keys\n\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, got, _ := strings.Cut(string(text), title)
	if *update {
		if err := os.WriteFile(file, []byte(before+title+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Error("the table of keys in internal/help/board.md is not that of the code: go test ./ui -run TheBoardTopic -update")
	}
}

func TestTheHelpFindsAndOpensTopics(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	for word, want := range map[string]string{"stale": "has not answered", "fence": "a number that grows with each term", "conflict": "two owners", "redisson": "ShedLock"} {
		d := hand(a)
		d.press("?")
		d.typed(word)
		found := false
		for _, l := range screen.HelpLines(&d.Scene, word) {
			found = found || l.Topic != "" && strings.Contains(l.Text, want)
		}
		if !found {
			t.Errorf("%s: no line of a topic has %q", word, want)
		}
	}
	d := hand(a)
	d.press("?")
	d.typed("grows with each term")
	d.shows(t, "TOPIC problems: Words")
	d.press("enter")
	d.shows(t, "one owner's uninterrupted ownership")
	if l := screen.HelpLineAt(&d.Scene, "", d.HelpAt); !strings.HasPrefix(l.Text, "fence ") {
		t.Errorf("the cursor is on %q", l.Text)
	}
	d.press("g")
	d.shows(t, "needs a person")
	d.press("esc")
	d.shows(t, "SIGNS")
	d.press("G", "enter")
	d.shows(t, "TOPIC terminals: colours, size")
	d.press("esc", "esc")
	d.shows(t, "OWNER")
}

func TestNoLineOfATopicIsCut(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {160, 48}} {
		d := drive(hand().feed, Options{Width: size[0], Height: size[1]})
		d.press("?")
		for _, d.Topic = range help.Names() {
			for _, l := range screen.HelpLines(&d.Scene, "") {
				if l.Cells() > size[0] {
					t.Errorf("%s is cut: %q", d.Topic, l.Text)
				}
			}
		}
	}
}
