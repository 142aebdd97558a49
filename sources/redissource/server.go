package redissource

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
)

// server has the facts that the server reports about itself, as far as the user has the rights.
type server struct {
	version   string
	role      string    // "master", "replica"; or "" if unknown
	cluster   bool      // a node of a cluster
	runID     string    // of the process; "" if unknown
	addr      string    // its remote address
	started   time.Time // earliest start of the process; zero if unknown
	touches   bool      // reading a key counts as its use, for eviction
	empty     bool      // it started without data, and received none from another server
	data      string    // identifies the server's data; changes with a restart that lost the data; "" if unknown
	roundTrip time.Duration
}

// incarnation returns the name of the process for About, or "" if unknown.
func (s server) incarnation() string {
	if s.runID == "" {
		return ""
	}
	return "run " + s.runID[:min(8, len(s.runID))]
}

// uptimeNoise is by how much a server may have started earlier than its uptime suggests, because it cuts both times to
// seconds and refreshes the later one only when it is idle.
const uptimeNoise = 1200 * time.Millisecond

// askServer reads the server's facts. A refused command leaves its facts unknown.
func (l *link) askServer(ctx context.Context) (s server, err error) {
	if err := l.conn.Ping(ctx).Err(); err != nil { // logs in, so it does not count as a round trip
		return s, err
	}
	// Reading must not keep keys alive that the server would evict as unused. Servers before 7.2 do not support this.
	_, err = rediscoord.Once(l.refusals(), "client|no-touch", func() (any, error) { return l.conn.Do(ctx, "CLIENT", "NO-TOUCH", "ON").Result() })
	if s.touches = err != nil; fatal(err) {
		return s, err
	}
	start := time.Now()
	info, err := l.info("server")
	if err != nil {
		return s, err
	}
	if len(info) > 0 {
		s.roundTrip = time.Since(start)
	}
	s.version, s.runID, s.cluster = info["redis_version"], info["run_id"], info["redis_mode"] == "cluster"
	if up, err := time.ParseDuration(info["uptime_in_seconds"] + "s"); err == nil {
		s.started = time.Now().Add(-s.roundTrip - up - uptimeNoise)
	}
	s.role, err = askRole(ctx, l.conn, l.refusals())
	return s, err
}

// askRole returns the server's role, or "" if the user may not ask.
func askRole(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals) (string, error) {
	reply, err := rediscoord.Once(refusals, "role", func() ([]any, error) { return c.Do(ctx, "ROLE").Slice() })
	if fatal(err) {
		return "", err
	}
	if len(reply) == 0 {
		return "", nil
	}
	switch reply[0] {
	case "master":
		return "master", nil
	case "slave":
		return "replica", nil
	case "sentinel":
		e := new(sentinelError)
		if names, _ := reply[len(reply)-1].([]any); len(names) > 0 {
			e.master, _ = names[0].(string)
		}
		return "", e
	}
	return "", nil
}

// sentinelError reports that the server is a Sentinel, and names a master that the Sentinel watches, if any.
type sentinelError struct{ master string }

// Error implements error.
func (e *sentinelError) Error() string { return "a Sentinel" }

// fatal reports whether err is not just a refusal of one command.
func fatal(err error) bool {
	return err != nil && !errors.As(err, new(redis.Error))
}

// survivors is the maximum number of keys that are read after a restart to find out whether the data was kept.
const survivors = 100

// beganEmpty reports whether the server loaded no data at its start, by its own count, which exists from 7.0 on. That
// count leaves out an append-only file and data from a master, so that beganEmpty returns false with either.
func (l *link) beganEmpty() (bool, error) {
	loaded, err := l.info("persistence")
	if err != nil || loaded["rdb_last_load_keys_loaded"] != "0" || loaded["rdb_last_load_keys_expired"] != "0" || loaded["aof_enabled"] != "0" || loaded["loading"] != "0" {
		return false, err
	}
	copied, err := l.info("replication")
	return copied["role"] == "master" && strings.Trim(copied["master_replid2"], "0") == "", err
}

// compareServers finds out whether the server was replaced or restarted since the last link.
func (w *watcher) compareServers(ctx context.Context) (err error) {
	if w.link.server.empty, err = w.link.beganEmpty(); err != nil {
		return err
	}
	before := *w.before
	if w.link.server.data = before.data; w.link.server.empty {
		w.link.server.data = w.link.server.incarnation()
	}
	*w.before = w.link.server
	if before.runID == "" || w.link.server.runID == "" || before.runID == w.link.server.runID {
		return nil
	}
	if before.addr != w.link.server.addr {
		w.status.became, w.status.becameHow = "another server: "+w.link.server.addr, sources.Told
		return nil
	}
	if w.link.server.empty {
		w.status.dataLost, w.status.became, w.status.becameHow = true, "restarted without its data", sources.Told
		return nil
	}
	gone, err := w.ownersGone(ctx)
	if w.status.dataLost = gone; gone {
		w.status.became, w.status.becameHow = "restarted, none of the owners is there any more", sources.Inferred
	}
	return err
}

// ownersGone reports whether every key that should still be owned has lost its owner.
func (w *watcher) ownersGone(ctx context.Context) (bool, error) {
	var questions []question
	now := time.Now()
	for name, k := range w.keys {
		if len(questions) < survivors && k.shown.owners > 0 && (k.ends.after.IsZero() || k.ends.after.After(now)) {
			questions = append(questions, question{name: name})
		}
	}
	if len(questions) == 0 {
		return false, nil
	}
	readings, err := fetch(ctx, w.link.conn, w.link.refusals(), questions)
	if err != nil {
		return false, err
	}
	for i, r := range readings {
		k := w.keys[questions[i].name]
		if r == nil || r.shape == denied || r.shape == moved {
			return false, nil
		}
		if now, _ := k.examine(w.link.o, w.space, r); now.ids == k.shown.ids {
			return false, nil
		}
	}
	return true, nil
}
