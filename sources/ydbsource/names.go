package ydbsource

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coordtop/coord/ydbcoord"
)

// mostNames is how many semaphores one source may name.
const mostNames = 100_000

// numbers is a range of numbers in a name, as {0..9}.
var numbers = regexp.MustCompile(`\{(\d{1,9})\.\.(\d{1,9})\}`)

// expand returns the names that a pattern stands for: each {0..9} is every number in turn, with as
// many digits as the first one has. Other braces are part of the name. \* is a star.
func expand(pattern string) ([]string, error) {
	if strings.Contains(strings.ReplaceAll(pattern, `\*`, ""), "*") {
		return nil, errors.New("YDB lists no semaphores, so no name is found by a *: write whole names, " +
			`as job-{0..9}, or a file of them (semaphores_file); a * in a name itself as \*`)
	}
	names := []string{strings.ReplaceAll(pattern, `\*`, "*")}
	for {
		all := numbers.FindAllStringSubmatchIndex(names[0], -1)
		if len(all) == 0 {
			break
		}
		at := all[len(all)-1] // from the end: what is before it is the same in all names
		first, last := names[0][at[2]:at[3]], names[0][at[4]:at[5]]
		from, _ := strconv.Atoi(first) // nine digits at most
		to, _ := strconv.Atoi(last)
		if n := to - from + 1; n < 1 || n > mostNames/len(names) {
			return nil, fmt.Errorf("{%s..%s} in the name of a semaphore: from the smaller to the larger number, at most %d names", first, last, mostNames)
		}
		var more []string
		for _, name := range names {
			for i := from; i <= to; i++ {
				more = append(more, name[:at[0]]+fmt.Sprintf("%0*d", len(first), i)+name[at[1]:])
			}
		}
		names = more
	}
	for _, name := range names {
		if err := ydbcoord.CheckName(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// expandAll returns a selection for each name that a selection stands for.
func (s Selection) expandAll() ([]Selection, error) {
	names, err := expand(s.Name)
	list := make([]Selection, len(names))
	for i, name := range names {
		list[i] = s
		list[i].Name = name
	}
	return list, err
}

// namesOf reads a list of names: one in a line, where an empty line and one that begins with #
// count for nothing.
func namesOf(text string) ([]string, error) {
	var list []string
	for i, line := range slices.Collect(strings.Lines(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		names, err := expand(line)
		if err == nil && len(list)+len(names) > mostNames {
			err = fmt.Errorf("more than %d names", mostNames)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		list = append(list, names...)
	}
	return list, nil
}
