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

// Options select the primitives to watch, and the servers. Only Name and URL are needed.
type Options struct {
	// Name is the source's name: Ref.Source of everything it publishes.
	Name string
	// URL is the address of the server: postgres://user@host:port/database, or keywords in libpq's form. With several
	// hosts, the primary among them is watched, unless target_session_attrs says otherwise.
	URL string
	// User and Password override those of the URL. If they are "", the URL's are used.
	User, Password string
	// TLS overrides the TLS settings of the URL, unless it is nil. With a config, TLS is required. An empty ServerName
	// in it means the host.
	TLS *tls.Config
	// Selections are the locks to watch. Without any, all locks of the server are watched.
	Selections []Selection
	// Scheme computes the keys of selected names that are no numbers. "": hashtextextended.
	Scheme pgcoord.Scheme
	// Names are display names of locks by key, for example "4242", "17:-4" or "17:4/9". They apply in every database.
	Names map[string]string
	// Channels are channels to listen to besides pgcoord.Channel. Each notification on them causes a look at once.
	// Names have at most 63 bytes.
	Channels []string
	// PollMin and PollMax bound the pause between two looks. 0: 250 ms and 5 s.
	PollMin, PollMax time.Duration
	// Forget is the time for which a lock that nobody owns stays in the list. 0: an hour. Selected locks always stay.
	Forget time.Duration
	// Labels are added to every primitive.
	Labels []sources.Attr
	// Dial makes the connections. If it is nil, they are TCP or a Unix socket.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Selection is one lock to watch in every database of the server, or all locks. In the database of the URL, the lock is
// shown from the start. Its Pattern is "4242", "17:-4", "17:4/9" (made by an extension), a name, or "*" for all locks.
// KindUnknown means a mutex.
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
