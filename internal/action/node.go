package action

import (
	"fmt"
	"strings"
	"time"

	"coordtop/sources"
)

// NodeSettings are the settings of a space, a coordination node of YDB. A zero field stays as it is, or is left to the
// service.
type NodeSettings struct {
	SelfCheckPeriod    time.Duration
	SessionGracePeriod time.Duration

	ReadConsistency     string // strict, relaxed
	AttachConsistency   string // strict, relaxed
	RateLimiterCounters string // aggregated, detailed
}

// Each returns the names and the values of the settings, "" for a zero field.
func (s NodeSettings) Each() [][2]string {
	length := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	return [][2]string{
		{"self check period", length(s.SelfCheckPeriod)}, {"session grace period", length(s.SessionGracePeriod)},
		{"read consistency", s.ReadConsistency}, {"attach consistency", s.AttachConsistency},
		{"rate limiter counters", s.RateLimiterCounters},
	}
}

// String returns the settings that are not zero, for people.
func (s NodeSettings) String() string {
	var list []string
	for _, one := range s.Each() {
		if one[1] != "" {
			list = append(list, one[0]+" "+one[1])
		}
	}
	return strings.Join(list, ", ")
}

// Node is a space as its service describes it.
type Node struct {
	Owner       string // a user of the service
	Incarnation string // "": not told
	NodeSettings
}

// Has reports whether n has the settings of s that are not zero.
func (n Node) Has(s NodeSettings) bool {
	now := n.Each()
	for i, one := range s.Each() {
		if one[1] != "" && one[1] != now[i][1] {
			return false
		}
	}
	return true
}

// TargetOfNode returns the Target of a space with the owners of everything in it, and the rows that are owned or
// awaited, for people.
func TargetOfNode(s *sources.State, source, space string) (t Target, users []string) {
	t.Ref = sources.Ref{Source: source, Space: space}
	var owners []string
	for _, row := range s.Rows {
		if row == nil || row.Source != source || row.Space != space || len(row.Owners)+row.Queue.Len == 0 {
			continue
		}
		text := OwnerText(row.Name, "")
		if len(row.Owners) > 0 {
			text += " owned by " + OwnersText(row.Owners)
		}
		if row.Queue.Len > 0 {
			text += fmt.Sprintf(" (%d wait)", row.Queue.Len)
		}
		users = append(users, text)
		for i := range row.Owners {
			owners = append(owners, UseIn(row.Name, row.Owners[i].ID))
		}
	}
	t.Used = UseOf(owners)
	return t, users
}

// UseIn returns the part of UseOf for an owner of one primitive in a space.
func UseIn(name, owner string) string { return name + "/" + owner }
