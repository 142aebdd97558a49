package origin

import (
	"cmp"
	"net"
	"slices"
	"strings"

	"coordtop/internal/ground/lazy"
	"coordtop/sources"
)

// Origin is the host, program and session of an owner or a waiter. An empty field is unknown.
type Origin struct {
	Host    string
	Program string
	Session string // the same as sources.Owner.Session
	Label   string
}

// Name returns the name under which all owners and waiters of one origin are listed: the host, else the program, else
// the label.
func (o Origin) Name() string { return cmp.Or(o.Host, o.Program, o.Label) }

// By is a way to join owners and waiters under one name.
type By uint8

// The ways to join them.
const (
	ByHost    By = iota // the host, else the program, else the label: see Origin.Name
	ByProgram           // the program, else the label
	BySession           // the label, else the session
)

var byWords = [...]string{"host", "program", "session"}

// String returns "host", "program" or "session".
func (b By) String() string { return byWords[b] }

// ByNamed returns the By whose String is word; ok is false for any other word.
func ByNamed(word string) (b By, ok bool) {
	i := slices.Index(byWords[:], word)
	return By(max(i, 0)), i >= 0
}

// Under returns the name under which everything of one origin is listed; "": nothing is known.
func (o Origin) Under(b By) string {
	switch b {
	case ByProgram:
		return cmp.Or(o.Program, o.Label, o.Session)
	case BySession:
		return cmp.Or(o.Label, o.Session)
	}
	return cmp.Or(o.Name(), o.Session)
}

// Labels has what labels were found to show: to read one costs much, and labels repeat. A nil Labels keeps nothing.
type Labels map[string]Origin

// OfOwner returns the origin of an owner.
func (l Labels) OfOwner(o *sources.Owner) Origin { return l.of(o.Label, o.Session, o.Attrs) }

// OfWaiter returns the origin of a waiter or candidate.
func (l Labels) OfWaiter(w *sources.Waiter) Origin { return l.of(w.Label, w.Session, w.Attrs) }

// OfName returns the origin of somebody of whom only the name is known.
func (l Labels) OfName(name string) Origin { return l.of(name, "", nil) }

func (l Labels) of(label, session string, attrs []sources.Attr) Origin {
	o := l.read(label)
	o.Session, o.Label = session, label
	if application := sources.AttrOf(attrs, "application"); application != "" {
		named := l.read(application)
		o.Host, o.Program = named.Host, cmp.Or(named.Program, application)
	}
	if client := sources.AttrOf(attrs, "client"); o.Host == "" && client != "" {
		o.Host = withoutPort(client)
	}
	o.Host = cmp.Or(sources.AttrOf(attrs, sources.HostAttr), o.Host)
	o.Program = cmp.Or(sources.AttrOf(attrs, sources.ProgramAttr), o.Program)
	return o
}

var (
	// pod matches the name of a pod of a Deployment, which ends in the hash of its ReplicaSet and five
	// characters of its own (SafeEncodeString of Kubernetes, apimachinery/pkg/util/rand: without vowels,
	// 0, 1 and 3).
	pod = lazy.Regexp(`^([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)-([bcdfghjklmnpqrstvwxz2456789]{8,10})-([bcdfghjklmnpqrstvwxz2456789]{5})$`)
	// hostPID matches host:pid, also with a prefix before an @, which Go programs and ShedLock write.
	hostPID = lazy.Regexp(`^(?:[^@\s]*@)?([A-Za-z0-9](?:[-A-Za-z0-9._]*[A-Za-z0-9])?):(\d{1,10})$`)
	// atHost matches user@host or uuid@host.
	atHost = lazy.Regexp(`^[^@\s]+@([A-Za-z0-9](?:[-A-Za-z0-9._]*[A-Za-z0-9])?)$`)
)

// read returns the origin that the form of a label shows.
func (l Labels) read(label string) Origin {
	o, known := l[label]
	if !known {
		if o = fromLabel(label); l != nil {
			l[label] = o
		}
	}
	return o
}

// fromLabel does what read does, anew.
func fromLabel(label string) (o Origin) {
	label = strings.TrimSuffix(label, " (us)")
	host := label
	switch {
	case strings.IndexByte(label, ':') > 0: // cheaper than an expression, because there may be many labels
		host = first(hostPID().FindStringSubmatch(label))
		o.Host = host
	case strings.IndexByte(label, '@') > 0:
		host = first(atHost().FindStringSubmatch(label))
		o.Host = host
	}
	if strings.Count(host, "-") > 1 {
		if o.Program = first(pod().FindStringSubmatch(host)); o.Program != "" {
			o.Host = host
		}
	}
	return o
}

// first returns the first group of a match, or "".
func first(match []string) string {
	if match == nil {
		return ""
	}
	return match[1]
}

// withoutPort returns the host of a client's address; a local socket and a loopback address name none.
func withoutPort(client string) string {
	host := client
	if h, _, err := net.SplitHostPort(client); err == nil {
		host = h
	}
	if strings.HasPrefix(host, "local") || net.ParseIP(host).IsLoopback() {
		return ""
	}
	return host
}
