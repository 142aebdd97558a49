// Package redissource watches the leader keys and locks of one Redis server. Watching is
// read-only: it sends no command that writes, configures or blocks.
//
// It may import coord/*coord, sources, sources/kit, sources/redissource/lockformat, internal/ground/*.
//
// # Two connections
//
// One connection receives pushes and the other sends reads; CLIENT LIST shows both as
// coordtop-watch. Neither reconnects by itself: an error of one ends both, Next returns
// the error, and the next Connect starts with Relists, because Redis replays nothing. The push
// connection is always being read. It is pinged every 20 ms, or every two round trips if that is
// longer, because only an answered ping proves how old a push can be. The pings come once a second
// after 30 s without a push and without a move on the screen, and while the last ping has no answer.
// While at least 200 renewals a second and nothing else are pushed over a link of at most a
// millisecond, pushes are read at each ping and not at once: each message would wake Go's poller. A
// closed connection is noticed at once, a silent one after Options.Silence.
//
// A source keeps at most 100,000 configured keys, also by patterns, and 12,000 guessed ones, and at
// most 22 MB of names and values. A warning reports if there are more. 100,000 keys with names of 40
// bytes make a watch of 290 MB. The source keeps the whole row of the first 20,000 keys only, and
// checksums of the other rows, because the Hub keeps the rows too. The size of a server's messages is
// bounded (see internal/ground/respwire).
//
// # How changes are pushed
//
// Every connect chooses the best of these modes, and About.Mode names it:
//
//	tracking          CLIENT TRACKING over RESP3: BCAST with literal prefixes made from the patterns
//	tracking RESP2    the same, redirected to the connection's own id
//	keyspace events   only if the server is configured to send them
//	polling           paced by the cost of a round
//
// Keys of a pattern that begins with a wildcard have no prefix. Where keyspace events do
// not help, these keys are tracked one by one: the read connection redirects its tracking to
// the push connection, and after a read behind CLIENT CACHING YES the server pushes the next change.
// Where the server does not redirect, they are polled. New keys are found by polling. The server's
// table of such keys is bounded. A full table drops keys, and pushes them as if they had changed:
// a key with more than ten pushes a second without a change is polled until the next connect, and
// so are further keys if more than ten keys have such pushes in one second. A warning gives the reason
// for all polling that tracking could replace; About.Sampling is the pause between two looks.
//
// A mode is left until the next connect where it is proven to miss changes: keyspace
// events when their configuration has changed, which is read once a second, and any mode
// when a look finds a change and a later ping is answered without a push of it.
//
// # Bursts
//
// Pushed keys are read before everything else. Where more keys are pushed than can be read at
// once, keys on screen come first, then mostly the newest, so that a new change does not
// wait until a burst is read. A push that waits for longer than Options.Silence proves that
// the rows are out of date: Next returns Relists, and everything is read again.
//
// After one command that writes to more than 50,000 keys, the names in the push are not used: all
// known keys are read, and new ones are searched for.
//
// # What is read, and why without a transaction
//
// A push has only the name of a key, so every pushed key is read: PTTL, GETRANGE 0 4095, STRLEN,
// PTTL. MULTI and EVAL would make the four atomic, but need rights that a watcher should not ask for
// (EVAL can write). Instead the remaining time is read before and after the value: unless it is
// equal, or fell as time passed, the key was written in between and is read again. This misses a
// write that shortens the key's life by no more than the reading took: the old owner is
// shown with its end, until the push of that write or the next poll corrects it.
//
// Pushed keys are read at once. Only while the last hundred reads all showed renewals do pushes wait up
// to 15 ms for others: then a thousand leases that are renewed every second take a hundred round trips,
// and a change among them still gets its instant.
//
// A sweep reads pushed keys with PTTL and GETRANGE only. A key that differs, or has at least 4,096
// bytes, is then read as above.
//
// # What is shown of a value
//
// The value of a lock, or the field of its hash, is enough to release the lock. So the package
// shows only these parts of it: text that is positively a name (internal/ground/legible), matches of
// Options.Legible, and the data behind a UUID and a blank, without secrets. The
// owner's ID is the value only if all of it is a name; else it is made of the sha1 of the part
// that stays the same: the UUID before data or a number, ShedLock's UUID, Redisson's client and
// thread, or else the value without the parts that a renewal rewrites (a time, a number that
// is named as a time or a count). The guard is that of rediscoord: of the key and its whole value.
//
// Owners have no Session: no ownership ends with one. lockformat knows the libraries that give their locks
// no TTL by design; their rows have sources.NoTTLLabel.
//
// # What is a lock where nothing is selected
//
// lockformat has the formats of libraries, and finds the keys that belong to one lock. Sweeps pass all
// keys: the first sweep 20,000 at once, the others within Options.Share of a core of the server, whose
// CPU time is read. Names that prove a lock, and names with a word for one, are selected by the name.
// Of other keys the type is read, and then the first 64 bytes of a string, one field of a hash, or the
// first member of a sorted set. A key is a lock if a library's locks have such values, and if it has a
// TTL or no other program writes such values. Of keys that are locks only by a random
// value, 5,000 are listed whose names begin alike, and 20 of those that may be sessions. Until
// the first pass is complete, About.Partial is Reading.
//
// The companions of a lock are read with it, but not at the same instant. A change of a companion alone
// is seen at the next look at the lock.
//
// # Rights
//
// A user needs ping, pttl, strlen and getrange on the keys, and scan for patterns; client|tracking
// for pushes (over RESP2 also client|id, subscribe and the channel __redis__:invalidate; for keys
// without a prefix also client|caching and client|id); or config|get, psubscribe and the very
// patterns __keyspace@DB__:PATTERN for keyspace events; type, hlen, hgetall and object|encoding for
// locks that are kept in hashes, zcard and zrange for those in sorted sets, hrandfield for names
// without a word for a lock; lrange, llen, hget and pubsub|numsub for companions. The other commands
// (role, info, dbsize, client|setname, client|no-touch) may be refused.
//
// The login reads a few keys: a user who lacks one of pttl, strlen and getrange is
// refused with its name. Where it is taken away later, the notes of the keys name it.
//
// The server logs a refused command in its ACL LOG, so this source does not send it again, on
// no later connection either, until Refresh; only indispensable commands are tried at
// each connect. Once a second one key is tried: a refused one, if there is any. If the right to a
// key was taken or given, everything is read again.
//
// # Times
//
// The server answers in order, so a pushed change happened after the sending of the last
// ping that was answered before the push. Where that was no more than 25 ms ago, or three round
// trips where those are longer, 300 ms at most, and the key was read within that time, the
// change gets the instant at which the push arrived (Change.After zero), which is right to within
// that time. Otherwise, and wherever a change is found without a push, it lies in (After, At]: At
// is the arrival of the look's answer; After is the sending of the last look that showed the old state,
// or of the last ping that was answered before the push. Over a time without connections After is the
// last ping that the earlier connection answered, for a key whose changes were pushed. A lease that ran
// out, while any other end would have been pushed, ended no earlier than its earliest deadline: that is
// After then. A ping sent with the look proves it; where its answer is late, the end is sent
// later, or with an After as early as the last ping that was answered.
//
// A key that was free, and was written to while it was not observed so closely, may have had
// an owner that came and went: Change.Unseen reports that, and no gap is counted across it. Ownerships
// shorter than the time that a push may take are missed.
//
// Remaining times become local deadlines where they are read: a lease ends in
// (Expires.After, Expires.At]. Redis deletes, and pushes, an expired key only when it
// comes across it, up to minutes later, so each key is read once at its deadline.
// A polled key is read shortly before it too: if that read was late or missing, the owner may have
// renewed the lease and released it unseen, and the end has no cause.
//
// # Causes
//
// Where maxmemory-policy lets the server drop keys, an end while evicted_keys grew has no cause.
//
// Only keyspace events tell why a key is gone (del, expired, evicted, written over); a flush of the
// database is inferred from the push without names. Other causes are left to the Hub, which compares
// the end with the lease.
//
// Another run_id at a new connection is reported in About.Incarnation: as another server where the
// address differs too, else as a restart. A server from 7.0 on that loaded no data at its start, and has
// no append-only file and is no promoted replica, has lost all ownerships: then Primitive.Incarnation
// changes, and the restart is the cause of each end. It is the cause too where none of 100 owners that
// should still be there is. Otherwise owners do not depend on the Incarnation: a restart may keep them.
//
// A write to a key of the same name in another database is pushed too; the read shows that
// nothing changed. SWAPDB is never pushed, and a flush is no keyspace event: their changes are
// found by the resync, once a minute, or at the next write to the key. The server's count of these
// commands is read once a second and after a change of owner. If it grew, an owner that changed may
// have changed before the push: at any time since the last look.
package redissource
