package sources

import "regexp"

// OwnerRule gives owners a readable label.
type OwnerRule struct {
	Match *regexp.Regexp
	Label string // may use $1, ${name}
}

// OwnerRules are applied to the labels of owners, waiters and candidates.
type OwnerRules []OwnerRule

// Label returns the label that the first matching rule gives to text, or text itself.
func (rules OwnerRules) Label(text string) string {
	for _, r := range rules {
		if m := r.Match.FindStringSubmatchIndex(text); m != nil {
			return string(r.Match.ExpandString(nil, r.Label, text, m))
		}
	}
	return text
}
