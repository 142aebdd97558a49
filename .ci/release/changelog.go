package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// changelog lists the commits since the last tag, or all of them if there is no tag. Commits are grouped by the folder
// at the beginning of their subjects.
func (r *release) changelog() error {
	span, since := "HEAD", ""
	if tag, err := r.git("describe", "--tags", "--abbrev=0", "HEAD^"); err == nil {
		span, since = tag+"..HEAD", " since "+tag
	}
	log, err := r.git("log", "--no-merges", "--abbrev=12", "--format=%h %s", span)
	if err != nil {
		return err
	}
	text := changes(log)
	head := fmt.Sprintf("# coordtop %s, %s\n\nWhat changed%s, by part of the program; the newest first.\n", r.version, r.time.Format("2006-01-02"), since)
	if err := r.put("CHANGELOG.md", []byte(head+text)); err != nil {
		return err
	}
	if err := r.zip("CHANGELOG.md"); err != nil {
		return err
	}
	return r.write("CHANGELOG.md", func(w io.Writer) error {
		_, err := io.WriteString(w, head+text)
		return err
	})
}

// changes groups lines of a commit and its subject, "part: what changed", by the first two folders of the part.
func changes(log string) string {
	parts := map[string][]string{}
	for line := range strings.Lines(log) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		part, what, has := strings.Cut(subject, ": ")
		if !has || strings.Contains(part, " ") && !strings.Contains(part, ", ") {
			part, what = "other", subject
		}
		part, _, _ = strings.Cut(part, ", ")
		if folders := strings.Split(part, "/"); len(folders) > 2 {
			part = strings.Join(folders[:2], "/")
		}
		parts[part] = append(parts[part], "- "+what+" ("+commit+")\n")
	}
	var b strings.Builder
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		fmt.Fprintf(&b, "\n## %s\n\n%s", part, strings.Join(parts[part], ""))
	}
	return b.String()
}
