package objective

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/internal/ground/lazy"
	"coordtop/sources"
)

// Objective is one objective of the config: an owner for a part of the time. "led" is for elections, "owned" for
// mutexes.
type Objective struct {
	Pattern glob.Pattern // of NAME, SOURCE/NAME or SOURCE/SPACE/NAME
	Text    string       // as a person wrote it, with single blanks
	Kind    sources.Kind // KindElection or KindMutex
	Percent float64      // of the time: above 0 and below 100
	Over    time.Duration
}

// Forms lists the ways to write an objective.
const Forms = `"99.95 % led over 30 days" for elections, "99 % owned over 12h" for mutexes`

// The limits of the time over which an objective is judged.
const (
	Shortest = time.Hour
	Longest  = 366 * 24 * time.Hour
)

var written = lazy.Regexp(`^(\d{1,3}(?:\.\d{1,6})?) ?% (led|owned) over (\S+(?: \S+)?)$`)

// Parse reads the objective for the names that fit a pattern. Its errors repeat nothing of the text.
func Parse(pattern, text string) (Objective, error) {
	o := Objective{Pattern: glob.Pattern(pattern), Text: strings.Join(strings.Fields(text), " "), Kind: sources.KindElection}
	if err := o.Pattern.Check(); err != nil {
		return o, err
	}
	parts := written().FindStringSubmatch(o.Text)
	if parts == nil {
		return o, errors.New("must be written as " + Forms)
	}
	if parts[2] == "owned" {
		o.Kind = sources.KindMutex
	}
	switch o.Percent, _ = strconv.ParseFloat(parts[1], 64); {
	case o.Percent == 0:
		return o, errors.New("0 % is always kept: write more")
	case o.Percent >= 100:
		return o, errors.New("100 % leaves no time to change the owner: write less")
	}
	var ok bool
	if o.Over, ok = format.ParseLength(strings.NewReplacer(" days", "d", " day", "d", " hours", "h", " hour", "h").Replace(parts[3])); !ok {
		return o, errors.New("the time after over must be a length with its unit, as 30 days, " + format.LengthForms)
	}
	if o.Over < Shortest || o.Over > Longest {
		return o, errors.New("the time after over must be from 1 hour to 366 days")
	}
	return o, nil
}

// Names reports whether the objective is for a primitive, if that is of its Kind.
func (o *Objective) Names(ref sources.Ref) bool {
	return o.Pattern.Match(ref.Name) || o.Pattern.Match(ref.FullName()) || o.Pattern.Match(ref.Source+"/"+ref.Name)
}

// Budget returns the time for which nobody may own a primitive in Over.
func (o *Objective) Budget() time.Duration { return o.allowed(o.Over) }

// allowed returns the same for any length of time.
func (o *Objective) allowed(d time.Duration) time.Duration {
	return time.Duration((100 - o.Percent) / 100 * float64(d)).Round(time.Microsecond)
}
