package pgsource

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

// Options say what to watch. Only Name and URL are needed.
type Options struct {
	// Name is the source's name: Ref.Source of everything it publishes.
	Name string
	// URL is the address of the server: postgres://user@host:port/database, or keywords as libpq has them. With
	// several hosts the primary among them is watched, unless target_session_attrs says otherwise.
	URL string
	// User and Password override those of the URL. "": the URL's.
	User, Password string
	// TLS overrides the TLS settings of the URL; nil: the URL's. With a config, TLS is required. An empty
	// ServerName in it stands for the host.
	TLS *tls.Config
	// Selections are the locks to watch. None: all of the server.
	Selections []Selection
	// Scheme makes keys of selected names that are no numbers. "": hashtextextended.
	Scheme pgcoord.Scheme
	// Names are texts for locks by number, as "4242", "17:-4" or "17:4/9". They hold in
	// every database.
	Names map[string]string
	// Channels are listened to besides pgcoord.Channel: whatever arrives there makes the
	// source look at once. At most 63 bytes each.
	Channels []string
	// PollMin and PollMax bound the pause between two looks. 0: 250 ms and 5 s.
	PollMin, PollMax time.Duration
	// Forget is the time for which a lock that nobody owns stays in the list. 0: an hour. Selected ones stay
	// for ever.
	Forget time.Duration
	// Labels are handed on with every primitive.
	Labels []sources.Attr
	// Dial makes the connections. Nil: TCP, or a Unix socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Selection is one lock to watch, in every database of the server; in the one that the
// URL names it is shown from the start. Or it is all of them. Its Pattern is "4242", "17:-4",
// "17:4/9" (made by an extension), a name, or "*" for all locks; KindUnknown is a mutex.
type Selection = sources.Selection

const (
	clientName = "coordtop-watch" // how the server lists our connections
	everything = "*"
)

func (o Options) withDefaults() Options {
	o.Forget = cmp.Or(max(o.Forget, 0), time.Hour)
	o.PollMin = cmp.Or(max(o.PollMin, 0), 250*time.Millisecond)
	o.PollMax = cmp.Or(max(o.PollMax, 0), 5*time.Second)
	o.PollMax = max(o.PollMin, o.PollMax)
	return o
}
