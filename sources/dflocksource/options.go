package dflocksource

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/glob"
	"coordtop/sources"
)

// Options select the primitives to watch, and the servers. Only Client is needed.
type Options struct {
	// Name is the source's name: Ref.Source of everything it publishes.
	Name string
	// Client lists the servers, in the order in which their clients list them. An AnswerTimeout of 0 means 3 s.
	Client dflockcoord.ClientOptions
	// Selections are the keys to watch. Without any, all keys are watched.
	Selections []Selection
	// Labels are added to every primitive.
	Labels []sources.Attr
	// Forget is the time for which a key that nobody owns stays in the list. 0: an hour. Keys that are selected by
	// their whole name, or expected, always stay.
	Forget time.Duration
	// PollMin and PollMax bound the pause between two looks at a server. 0: 500 ms and 5 s;
	// more than 10 s count as 10 s.
	PollMin, PollMax time.Duration
}

// Selection is one or many keys to watch. Its Pattern is a key, or a pattern: see internal/ground/glob. KindUnknown
// means a mutex or a semaphore, depending on the server's listing.
type Selection = sources.Selection

const (
	never       = time.Duration(math.MaxInt64)
	longestPoll = 10 * time.Second
)

// withDefaults returns the options with defaults filled in. It also checks them and reads the certificates.
func (o Options) withDefaults() (Options, error) {
	o.Forget = cmp.Or(o.Forget, time.Hour)
	o.PollMin = min(cmp.Or(o.PollMin, 500*time.Millisecond), longestPoll)
	o.PollMax = min(max(o.PollMin, cmp.Or(o.PollMax, 5*time.Second)), longestPoll)
	if cut := o.Client.IdleCut; cut > 0 {
		o.PollMax = min(o.PollMax, cut/2)
		o.PollMin = min(o.PollMin, o.PollMax)
	}
	o.Client.AnswerTimeout = cmp.Or(o.Client.AnswerTimeout, 3*time.Second)
	dialers, err := o.Client.Dialers()
	o.Client.Servers = nil
	for _, d := range dialers {
		if slices.Contains(o.Client.Servers, d.Addr) {
			return o, fmt.Errorf("the dflockd server %s is named twice", d.Addr)
		}
		o.Client.Servers = append(o.Client.Servers, d.Addr)
	}
	for _, s := range o.Selections {
		if name, exact := glob.Pattern(s.Pattern).Literal(); exact {
			if err := (dflockwire.Key{Name: name}).Check(); err != nil {
				return o, fmt.Errorf("selecting keys: %w", err)
			}
		}
	}
	return o, err
}

// mostKeys returns how many keys of one server are watched at most.
func (o *Options) mostKeys() int { return mostKeys / len(o.Client.Servers) }

// elsewhere returns the server that a key belongs to by its hash, if that is not the server here. It returns "" if it is,
// or if clients choose the server by a function of their own.
func (o *Options) elsewhere(key, here string) string {
	home := o.Client.Servers[dflockwire.Shard(key, len(o.Client.Servers))]
	if home == here || o.Client.OwnSharding {
		return ""
	}
	return home
}

// find returns the selection of a key: one by its whole name, else the first matching pattern.
func (o *Options) find(key string) (s Selection, exact, ok bool) {
	if len(o.Selections) == 0 {
		return Selection{}, false, true
	}
	for _, each := range o.Selections {
		name, whole := glob.Pattern(each.Pattern).Literal()
		switch {
		case whole && name == key:
			return each, true, true
		case !ok && !whole && glob.Pattern(each.Pattern).Match(key):
			s, ok = each, true
		}
	}
	return s, false, ok
}
