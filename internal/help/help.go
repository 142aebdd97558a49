package help

import (
	"embed"
	"slices"
	"strings"
)

//go:embed [^p]*.md problems.md
var files embed.FS

// Topic is one page of the reference, or a part of it.
type Topic struct {
	Name  string // of its file, without .md
	Title string // what it is about
	Text  string // Markdown
}

// Names lists the topics by name, in the order in which people see them.
func Names() []string {
	return []string{
		"urls", "rights", "environment", "board", "timeline", "filters", "problems", "why", "json", "exit-codes",
		"acting", "lock", "drill", "recording", "team", "metrics", "libraries", "clients", "backends", "terminals",
	}
}

// Topics reads all topics.
func Topics() []Topic {
	var all []Topic
	for _, name := range Names() {
		text, _ := files.ReadFile(name + ".md") // it is embedded
		title, _, _ := strings.Cut(string(text), "\n")
		_, title, _ = strings.Cut(title, ": ")
		all = append(all, Topic{name, title, string(text)})
	}
	return all
}

// Find returns the topic of a name.
func Find(name string) (Topic, bool) {
	if i := slices.Index(Names(), name); i >= 0 {
		return Topics()[i], true
	}
	return Topic{}, false
}

// OfCommand returns the part of a topic that is about a command.
func OfCommand(name string) (Topic, bool) {
	for _, t := range Topics() {
		for part := range strings.SplitSeq(t.Text, "\n## ") {
			heading, _, _ := strings.Cut(part, "\n")
			if slices.Contains(strings.Split(heading, ", "), "coordtop "+name) {
				return Topic{t.Name, t.Title, "## " + part}, true
			}
		}
	}
	return Topic{}, false
}
