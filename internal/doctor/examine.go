package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// Report has the checks of one source, or of the files and folders.
type Report struct {
	Name    string      `json:"name"`
	Address string      `json:"address,omitempty"`
	Checks  []kit.Check `json:"checks"`
}

// Worst returns the worst grade of a list.
func Worst(list []kit.Check) (worst kit.Grade) {
	for _, c := range list {
		worst = max(worst, c.Grade)
	}
	return worst
}

// Examine examines a source that is not connected any more. s is the last State while the source was connected. status
// is the status of the source, with an Err if it could not be watched.
func Examine(ctx context.Context, x kit.Examiner, s *sources.State, status sources.SourceStatus) (list []kit.Check) {
	endpoints, err := x.Endpoints()
	if err != nil {
		return []kit.Check{check("TLS", kit.CheckFailed, err.Error())}
	}
	live := slices.ContainsFunc(s.Scopes, func(c sources.Scope) bool { return c.Source == status.Name && c.Health == sources.HealthLive })
	for _, e := range endpoints {
		steps, failed := reach(ctx, e)
		list = append(list, steps...)
		if last := &list[len(list)-1]; failed && status.Err != nil && !live {
			*last = check(last.Name, kit.CheckFailed, status.Err.Error())
			return list
		}
	}
	refused, login := errors.Is(status.Err, sources.ErrRefused), errors.Is(status.Err, sources.ErrCredentials)
	var found []kit.Check
	if status.Err == nil || live || refused && !login {
		found, err = x.Examine(ctx)
		list = append(list, found...)
	}
	name, grade, why := "answer", kit.GradeOf(err), cmp.Or(status.Err, err)
	switch {
	case login:
		name, grade = "login", kit.CheckRefused
	case refused && (len(found) > 0 || grade == kit.CheckRefused): // the login succeeded
		name, grade = "watch", kit.CheckRefused
	}
	if why != nil && !(live && Worst(found) > kit.CheckWarned) { // otherwise found has the problem, for one of its servers
		list = append(list, check(name, grade, why.Error()))
	}
	return append(list, seen(s, status.Name, list)...)
}

// check returns a check. It cleans the text, because a server may have written it.
func check(name string, grade kit.Grade, text string) kit.Check {
	return kit.Check{Name: name, Grade: grade, Text: format.Clean(strings.TrimSpace(text), 600)}
}

// seen returns a check for each scope of a source. It leaves out warnings that are already in known.
func seen(s *sources.State, source string, known []kit.Check) (list []kit.Check) {
	for _, c := range s.Scopes {
		if c.Source != source || c.Health == sources.HealthConnecting {
			continue
		}
		add := func(name string, grade kit.Grade, text string) {
			what, _, _ := strings.Cut(text, ":") // after the colon, ports may differ
			if twice := func(other kit.Check) bool { return strings.HasPrefix(other.Text, what) }; name != "note" || !slices.ContainsFunc(known, twice) {
				list = append(list, check(name, grade, strings.TrimPrefix(c.Name+": ", ": ")+text))
			}
		}
		how := "pushed: " + c.About.Mode
		if c.About.Sampling > 0 {
			how = c.About.Mode + ", a look every " + format.Precise(c.About.Sampling)
		}
		add("changes", kit.CheckPassed, how)
		if c.About.Version != "" {
			add("version", kit.CheckPassed, c.About.Version+" "+c.About.Role)
		}
		if c.About.RoundTrip > 0 {
			add("latency", kit.CheckPassed, format.Precise(c.About.RoundTrip))
		}
		for _, text := range c.About.Warnings {
			add("note", kit.CheckWarned, text)
		}
		if grade := kit.CheckWarned; !c.Whole() {
			if c.About.Partial == sources.Refused {
				grade = kit.CheckRefused
			}
			add("listing", grade, cmp.Or(c.About.LeftOut, "not whole in time: give it longer with --timeout"))
		}
	}
	return list
}

// Text prints reports for people. colored reports whether the text may have colours.
func Text(out io.Writer, list []Report, colored bool) error {
	var b, lost strings.Builder
	for _, r := range list {
		fmt.Fprintln(&b, strings.TrimSpace(r.Name+" "+r.Address))
		lost.Reset()
		for _, c := range r.Checks {
			word := fmt.Sprintf("%-4s", c.Grade)
			if colored {
				word = [...]string{"\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[31m"}[c.Grade] + word + "\x1b[m"
			}
			fmt.Fprintf(&b, "  %s %-9s %s\n", word, c.Name, c.Text)
			if c.Lost != "" {
				fmt.Fprintf(&lost, "    %s\n", strings.TrimSuffix(c.Lost+"\n      to get it: "+c.Fix, "\n      to get it: "))
			}
		}
		if lost.Len() > 0 {
			b.WriteString("  missing on the board:\n" + lost.String())
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// JSON prints reports as one object.
func JSON(out io.Writer, list []Report) error {
	text, err := format.JSON(map[string]any{"v": 1, "reports": list}, func(rune) bool { return false })
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}
