package app

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"coordtop/internal/help"
)

// TestTheTopicOfClientsNamesWhatExists looks up every command and flag of the topic, and finds in it every name of the
// four clients for which package coord has an answer.
func TestTheTopicOfClientsNamesWhatExists(t *testing.T) {
	t.Parallel()
	root := newProgram(Environment{}).root()
	topic, _ := help.Find("clients")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`coordtop ([^`]+)`").FindAllStringSubmatch(topic.Text, -1) {
		line := m[1]
		if strings.HasPrefix(line, "help ") { // a topic, whose name another test looks up
			continue
		}
		cmd, rest, err := root.Find(strings.Fields(line))
		if err != nil || cmd == root {
			t.Errorf("there is no command in coordtop %s: %v", line, err)
			continue
		}
		if len(rest) > 0 && cmd.HasSubCommands() {
			t.Errorf("coordtop %s names no command of %s", line, cmd.Name())
		}
		checkFlags(t, cmd, rest)
		named[cmd.CommandPath()] = true
	}
	if len(named) < 15 {
		t.Errorf("only %v are named", named)
	}
	doc, err := os.ReadFile("../../coord/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(doc), "# Coming from another client")
	rows := regexp.MustCompile(`(?m)^//\t(\S.*?)(?: {2,}|$)`).FindAllStringSubmatch(table, -1)
	if !found || len(rows) < 50 {
		t.Fatalf("the table of package coord has %d rows", len(rows))
	}
	for _, row := range rows {
		for name := range strings.FieldsSeq(row[1]) {
			if regexp.MustCompile(`^[a-zA-Z.]{3,}$`).MatchString(name) && !strings.Contains(topic.Text, name) {
				t.Errorf("the topic does not name %s", name)
			}
		}
	}
}

// checkFlags looks up the flags among the words behind a command, up to those of the command that it runs.
func checkFlags(t *testing.T, cmd *cobra.Command, words []string) {
	t.Helper()
	for _, word := range words {
		if word == "--" {
			return
		}
		if name, long := strings.CutPrefix(word, "--"); long && cmd.Flag(name) == nil {
			t.Errorf("%s has no flag %s", cmd.CommandPath(), word)
		}
	}
}
