package pgsource

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources"
)

const (
	modePolling = "polling"
	modeWoken   = "polling, woken by LISTEN"

	fullAt = 80 // percent of the lock table from which there is a warning
)

// describe returns the source's About if it changed, else nil.
func (w *watcher) describe() *sources.About {
	a := sources.About{
		Mode: modePolling, Sampling: w.pace.interval(time.Now(), w.eager()), Version: w.server.version,
		Incarnation: w.table.incarnation, Started: w.last.clock.local(w.server.started), Became: w.table.became.text, BecameHow: w.table.became.how, RoundTrip: w.last.got.Sub(w.last.sent), Role: w.server.role(),
		Warnings: w.warnings(), Config: w.facts(),
	}
	if open, _ := w.notifications.listening(); open {
		a.Mode = modeWoken
	}
	if w.about.Mode != "" && w.about.Same(&a) {
		return nil
	}
	w.about = a
	return &a
}

func (w *watcher) facts() []sources.Attr {
	list := []sources.Attr{{Key: "database", Value: w.server.database}, {Key: "user", Value: w.server.user}}
	list = append(list, sources.Attr{Key: sources.LockTable, Odd: w.full() >= fullAt, Value: fmt.Sprintf("%d entries (%d x (%d + %d)), %d %% taken by advisory locks",
		w.server.capacity.entries(), w.server.capacity.perTransaction, w.server.capacity.connections, w.server.capacity.prepared, w.full())})
	if open, _ := w.notifications.listening(); open {
		list = append(list, sources.Attr{Key: "channels", Value: strings.Join(w.notifications.channels, " ")})
	}
	return list
}

// full returns how much of the lock table advisory locks use, in percent of its nominal size.
func (w *watcher) full() int {
	if w.server.capacity.entries() == 0 {
		return 0
	}
	return int(uint64(w.table.rows) * 100 / w.server.capacity.entries())
}

// hides returns the warning that our role cannot see the sessions of other roles.
func (s *server) hides() string {
	return fmt.Sprintf("the role %s does not see what sessions of other roles do, where from and since when: grant pg_monitor to it", format.Clean(s.user, 63))
}

// between returns the warning about a pooler between us and the server, or "".
func (s *server) between() string {
	switch s.pooler {
	case pgwire.Lent:
		return "a pooler in transaction or statement mode stands between: it is polled, no notification arrives, and owners may be the pooler's own sessions: " +
			"name the server's own address"
	case pgwire.Session:
		return "a pooler stands between: sessions that came through it show its address as their client's"
	}
	return ""
}

func (w *watcher) warnings() []string {
	list := slices.Clone(w.notes)
	for _, text := range []string{w.Note(), w.NAT(), w.server.between()} {
		if text != "" {
			list = append(list, text)
		}
	}
	if w.table.hidden {
		list = append(list, w.server.hides())
	}
	if w.server.standby {
		list = append(list, "this is a standby: advisory locks are each server's own, and those of the primary are not seen here")
	}
	if open, why := w.notifications.listening(); !open && why != nil && w.mayListen() {
		list = append(list, "no notification arrives, falling back to polling: "+explain(why, w.connection.config, true).Error())
	}
	if full := w.full(); full >= fullAt {
		list = append(list, "advisory locks take "+strconv.Itoa(full)+" % of the nominal lock table: raise max_locks_per_transaction before it is full")
	}
	if w.table.dropped {
		list = append(list, fmt.Sprintf("more than %d locks were seen that nobody owns any more: the oldest of them are not kept; name what to watch", freeKept))
	}
	return list
}
