package redissource

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// countKeys reads the number of keys in the database in which locks are searched.
func (w *watcher) countKeys() error {
	total, err := rediscoord.Once(w.link.refusals(), "dbsize", func() (int64, error) { return w.link.conn.DBSize(w.link.Context()).Result() })
	if err != nil && !redis.IsPermissionError(err) {
		return err
	}
	w.status.total = total
	return nil
}

// describe sends the source's About if it changed.
func (w *watcher) describe() error {
	a := sources.About{
		Mode: modePolling, Version: w.link.server.version, Role: w.link.server.role,
		Incarnation: w.link.server.incarnation(), Became: w.status.became, BecameHow: w.status.becameHow,
		Started:   w.link.server.started,
		RoundTrip: cmp.Or(w.link.heartbeat.now().roundTrip, w.link.server.roundTrip), Config: []sources.Attr{{Key: "db", Value: w.space}},
	}
	a.Partial, a.LeftOut = w.partial(time.Now())
	a.Warnings = w.warnings(&a)
	if w.link.push != nil {
		a.Mode = w.link.push.mode
		if len(w.link.push.prefixes) > 0 {
			a.Config = append(a.Config, sources.Attr{Key: "tracked prefixes", Value: strings.Join(w.link.push.prefixes, " ")})
		}
	}
	if w.polls() {
		a.Sampling = w.sampling()
		if w.link.push != nil {
			a.Mode += " and polling"
		}
	}
	if w.status.about.Same(&a) {
		return nil
	}
	w.status.about = a
	return w.link.Send(sources.Change{About: &a})
}

func (w *watcher) warnings(a *sources.About) []string {
	var list []string
	switch why := strings.Join(w.status.polled, "; "); {
	case why == "":
	case w.link.push != nil && w.link.push.byKey && !w.link.discovers(): // all keys are pushed
	case w.link.push != nil && w.link.push.byKey:
		list = append(list, "polling for new keys: "+why)
	default:
		list = append(list, "polling: "+why)
	}
	list = append(list, w.checks.warnings()...)
	if w.tracking.evicts {
		list = append(list, "polling some keys: the server says that they change when they do not, as it does when tracking-table-max-keys is too small, or keys of the same name are often written in another database")
	}
	if w.status.noScan {
		list = append(list, "no right to scan, so keys that exist already are seen when they are next written: give the user +scan")
	}
	switch {
	case w.starting() && w.link.selected.guess: // the number of locks is not known yet
		keys := "keys"
		if w.status.total > 0 {
			keys = "of " + format.Count(int(w.status.total)) + " keys"
		}
		list = append(list, "guessing which "+keys+" are locks: "+howToName)
	case w.link.selected.guess || a.Partial == sources.Reading && !w.starting():
		text := w.searching(time.Now())
		if w.search.took >= time.Second {
			text += " (a sweep takes " + format.Age(w.search.took) + ")"
		}
		if n := w.guess.refusedBefore; n > 0 {
			text += fmt.Sprintf("; %s keys with a lock's name may not be read: give the user %s on them", format.Count(n), allRights)
		}
		if n := w.guess.leftOutBefore; n > 0 {
			text += fmt.Sprintf("; %s keys with random values are left out, because many names begin as theirs do", format.Count(n))
		}
		if w.link.push != nil && w.link.selected.guess {
			every := "every " + w.link.o.Resync.String()
			if w.link.o.Resync == time.Minute {
				every = "once a minute"
			}
			text += "; new prefixes are looked for " + every
		}
		list = append(list, text)
	}
	list = append(list, w.capacity.warnings(len(w.keys))...)
	list = append(list, w.evictions.warnings(w.search.ages)...)
	if w.link.server.cluster {
		list = append(list, "this is one node of a cluster: keys of the other nodes are not seen")
	}
	if w.link.server.role == "replica" {
		list = append(list, "this is a replica: it may be behind its master, which is the one to watch")
	}
	return list
}
