package ydbsource

import (
	"fmt"
	"strings"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

const (
	modeWatch    = "watches"
	modeDescribe = "described, no names"
	modeMissing  = "waiting for the node"
	modeFailed   = "no session"
	modeWalk     = "directories walked"
)

// about holds the facts about a node for its sources.About.
type about struct {
	mode     string
	sampling time.Duration
	why      string // the reason why it is not watched
	absent   bool   // the node does not exist
	unarmed  int    // number of semaphores whose watch is not armed
	node     ydbcoord.Node
	unknown  string // the reason why its settings are unknown
	last     *sources.About
}

func (a *about) read(n ydbcoord.Node, err error) {
	if err != nil {
		a.unknown = "the settings of the node cannot be read: " + format.Clean(err.Error(), 200)
		return
	}
	a.node, a.unknown = n, ""
}

func (a *about) watched() {
	a.mode, a.sampling, a.why, a.absent, a.unarmed = modeWatch, 0, "", false, 0
}

// described sets the facts of a node without named semaphores.
func (a *about) described() {
	a.watched()
	a.mode, a.sampling = modeDescribe, describes.Max
}

func (a *about) failed(err error) {
	a.mode, a.why, a.absent = modeFailed, format.Clean(err.Error(), 400), false
}

// missing sets the facts of a node that does not exist. Such a node is rarely read, so that it is not stale during that
// pause.
func (a *about) missing() {
	a.mode, a.sampling, a.absent = modeMissing, retries.Max, true
	a.why = "there is no coordination node at this path: check node=, or create it"
	a.node, a.unknown = ydbcoord.Node{}, ""
}

// changed returns the About if it differs from the last published one, else nil.
func (a *about) changed(n *node) *sources.About {
	now := &sources.About{
		Mode: a.mode, Sampling: a.sampling, Incarnation: n.state.incarnation,
		RoundTrip: time.Duration(n.ping.Load()), Config: a.facts(n.state), Became: "the node was made anew", Absent: a.absent,
	}
	if a.mode == modeWatch && a.unarmed > 0 {
		now.Mode = fmt.Sprintf("%d of %d watches not armed", a.unarmed, len(n.state.names))
	}
	for _, w := range []string{a.why, a.unknown} {
		if w != "" {
			now.Warnings = append(now.Warnings, w)
		}
	}
	if len(n.state.names) == 0 && !a.absent {
		now.Warnings = append(now.Warnings, "YDB lists no semaphores: name those of the coordination node "+
			format.Clean(n.state.path, 200)+" with semaphore=, election= or mutex=")
		if known := n.state.knownText(n.link.Context()); known != "" {
			now.Warnings = append(now.Warnings, known)
		}
	}
	now.Warnings = append(now.Warnings, n.state.unreadFiles()...)
	if a.last != nil && a.last.Same(now) {
		return nil
	}
	a.last = now
	return now
}

func (a *about) facts(b *nodeState) []sources.Attr {
	var list []sources.Attr
	add := func(key, value string) { list = append(list, sources.Attr{Key: key, Value: value}) }
	if a.node.Path != "" {
		c := a.node.Config
		add("owner of the node", format.Clean(a.node.Owner, 100))
		set := func(key, value, otherwise string) {
			if value == "0s" || value == "unset" {
				value = "not set (" + otherwise + ")"
			}
			add(key, value)
		}
		set("self check period", period(c.GetSelfCheckPeriodMillis()), "1s")
		set("session grace period", period(c.GetSessionGracePeriodMillis()), "10s")
		set("read consistency", mode(c.GetReadConsistencyMode()), "relaxed")
		set("attach consistency", mode(c.GetAttachConsistencyMode()), "strict")
		set("rate limiter counters", mode(c.GetRateLimiterCountersMode()), "aggregated")
	}
	if len(b.names) > 0 {
		add("semaphores", fmt.Sprintf("%d named, %d missing", len(b.names), b.absent()))
		add("queues", fmt.Sprintf("polled: selected every %v, visible every %v, others every %v, at most %d/s",
			b.o.PollMin, max(visibleEvery, b.o.PollMin), b.o.PollMax, time.Second/lookEvery))
	}
	return list
}

func (s *nodeState) absent() int {
	n := 0
	for _, e := range s.names {
		if e.absent && e.Kind != sources.KindMutex {
			n++
		}
	}
	return n
}

func period(millis uint32) string { return (time.Duration(millis) * time.Millisecond).String() }

// mode returns the last word of a value, for example "strict" for CONSISTENCY_MODE_STRICT.
func mode(value fmt.Stringer) string {
	name := value.String()
	return strings.ToLower(name[strings.LastIndexByte(name, '_')+1:])
}
