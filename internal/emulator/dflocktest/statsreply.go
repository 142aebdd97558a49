package dflocktest

import "encoding/json"

// report is the object that stats answers with.
type report struct {
	Connections    int              `json:"connections"`
	Locks          []lockReport     `json:"locks"`
	Semaphores     []poolReport     `json:"semaphores"`
	IdleLocks      []idleReport     `json:"idle_locks"`
	IdleSemaphores []idleReport     `json:"idle_semaphores"`
	SignalChannels *[]channelReport `json:"signal_channels,omitempty"`
}

type lockReport struct {
	Key     string  `json:"key"`
	Owner   uint64  `json:"owner_conn_id"`
	Expires float64 `json:"lease_expires_in_s"`
	Waiters int     `json:"waiters"`
}

type poolReport struct {
	Key     string `json:"key"`
	Limit   int    `json:"limit"`
	Owners  int    `json:"holders"`
	Waiters int    `json:"waiters"`
}

type idleReport struct {
	Key  string  `json:"key"`
	Idle float64 `json:"idle_s"`
}

type channelReport struct {
	Pattern   string `json:"pattern"`
	Listeners int    `json:"listeners"`
}

// stats lists all entries, in the order of a Go map, which differs each time.
func (m *model) stats() string {
	r := report{
		Connections: len(m.clients), Locks: []lockReport{}, Semaphores: []poolReport{},
		IdleLocks: []idleReport{}, IdleSemaphores: []idleReport{},
	}
	if m.options.Newer.SignalChannels {
		r.SignalChannels = &[]channelReport{}
	}
	for _, e := range m.entries {
		lock := e.limit == 1 && !e.key.semaphore
		switch idle := len(e.owners) == 0 && len(e.queue) == 0; {
		case idle && lock:
			r.IdleLocks = append(r.IdleLocks, m.idle(e))
		case idle:
			r.IdleSemaphores = append(r.IdleSemaphores, m.idle(e))
		case lock:
			r.Locks = append(r.Locks, m.lock(e))
		default:
			r.Semaphores = append(r.Semaphores, poolReport{Key: e.key.name, Limit: e.limit, Owners: len(e.owners), Waiters: len(e.queue)})
		}
	}
	line, err := json.Marshal(r)
	if err != nil {
		panic("cannot happen: stats cannot be written: " + err.Error())
	}
	return string(line)
}

func (m *model) idle(e *entry) idleReport {
	return idleReport{Key: e.key.name, Idle: m.now.Sub(e.used).Seconds()}
}

func (m *model) lock(e *entry) lockReport {
	l := lockReport{Key: e.key.name, Waiters: len(e.queue)}
	for _, o := range e.owners {
		l.Owner, l.Expires = o.client.id, max(0, o.ends.Sub(m.now).Seconds())
	}
	return l
}
