package redissource

import (
	"cmp"
	"context"
	"regexp"
	"time"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/identify"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// Source watches one server. It implements sources.Source, sources.Focuser and sources.Refresher. Polled keys on screen
// are read as often as Options.PollMin allows.
type Source struct {
	o        Options
	selected *selection
	keys     map[string]*key // used by the watcher while there is a link
	before   server          // of the last link, for the watcher of the next

	kit.Connector
	focusHints
}

var _ kit.Source = (*Source)(nil)

// New returns a source that is not connected. It starts nothing.
func New(o Options) *Source {
	o = o.withDefaults()
	o.Client.Refusals = new(rediscoord.Refusals)
	s := &Source{o: o, selected: compile(o.Selections), keys: make(map[string]*key)}
	s.Connector = kit.Connector{
		Product: identify.Redis, Dial: s.dial,
		Explain: func(err error, opening bool) error { return Explain(err, o.Client, o.Silence, opening) },
	}
	if o.Client.Topology == rediscoord.Single && len(o.Client.Addrs) == 1 {
		s.Address = o.Client.Addrs[0]
	}
	return s
}

// dial logs in, checks that we may read, and starts the watcher.
func (s *Source) dial(ctx context.Context) (kit.Conn, error) {
	l, err := dial(ctx, &s.o, s.selected)
	if err != nil {
		return nil, err
	}
	l.hints = &s.focusHints
	w := &watcher{link: l, keys: s.keys, before: &s.before, refused: true}
	l.Start(w.run)
	return l, nil
}

// Refresh reads everything again now, including keys that were refused. It tries refused commands again at the next
// connect.
func (s *Source) Refresh() {
	s.o.Client.Refusals.Forget()
	s.Hints.Refresh()
}

// Options configure a Source. Only Client is needed.
type Options struct {
	// Name is the source's name: Ref.Source of every primitive.
	Name string
	// Client has the server's address and login. The source sets its Name, PoolSize and ReadTimeout; With Protocol 2 it
	// uses only RESP2, else it tries RESP3 first.
	Client rediscoord.ClientOptions
	// Selections are the keys to watch. Without any, locks are guessed among all keys, and About.Warnings reports that.
	Selections []Selection
	// Legible are patterns of text in a value, or in a field of a lock's hash, that may be shown although it is not
	// positively a name. The match is shown, or its first group.
	Legible []*regexp.Regexp
	// Labels are added to every primitive.
	Labels []sources.Attr
	// Forget is the time after which a key without an owner leaves the list. 0: an hour. Keys that are selected by
	// their whole name, or expected, always stay.
	Forget time.Duration
	// PollMin and PollMax bound the pause between two looks at a key that is not
	// pushed. 0: 250 ms and 5 s.
	PollMin, PollMax time.Duration
	// Resync is the pause between two full reads, which find changes that no push reported. 0: a minute. It varies at
	// random by a tenth.
	Resync time.Duration

	// Share bounds the part of one of the server's cores that the search for keys uses. 0: 0.05.
	Share float64

	// unspread is the number of keys that the first sweep scans without a pause. Small servers have no more. 0: 20,000.
	unspread int
	// Silence is the time-out of a ping or a read. 0: 3 s.
	Silence time.Duration
	// Quiet is the time after which pings become rare if there is no push and no new row on the screen. 0: 30 s.
	Quiet time.Duration
}

// Selection is one or many keys to watch. Its Pattern is a key's name, or a pattern in Redis's own language: * ? [a-z]
// \; if the kind is KindUnknown, it is guessed from each name.
type Selection = sources.Selection

func (o Options) withDefaults() Options {
	o.Forget = cmp.Or(max(o.Forget, 0), time.Hour)
	o.PollMin = cmp.Or(max(o.PollMin, 0), 250*time.Millisecond)
	o.PollMax = cmp.Or(max(o.PollMax, 0), 5*time.Second)
	o.Resync = cmp.Or(max(o.Resync, 0), time.Minute)
	o.unspread = cmp.Or(o.unspread, 20_000)
	o.Share = cmp.Or(max(o.Share, 0), 0.05)
	o.Silence = cmp.Or(max(o.Silence, 0), 3*time.Second)
	o.Quiet = cmp.Or(max(o.Quiet, 0), 30*time.Second)
	o.PollMax = max(o.PollMin, o.PollMax)
	o.Client.Name = clientName
	o.Client.PoolSize = 1
	o.Client.ReadTimeout = o.Silence
	return o
}

// clientName is the name of our connections in CLIENT LIST.
const clientName = "coordtop-watch"
