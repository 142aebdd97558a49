// Package redissource watches the leader keys and locks of one Redis server. Watching is
// read-only: it sends no command that writes, configures or blocks.
//
// It may import coord/*coord, sources, sources/kit, sources/redissource/lockformat, internal/ground/*.
//
// # Two connections
//
// One connection receives pushes and the other sends reads; CLIENT LIST shows both as coordtop-watch. Neither
// reconnects by itself: an error of one ends both, Next returns the error, and the next Connect starts with Relists,
// because Redis replays nothing. A goroutine always reads the push connection. It is pinged every 20 ms, or every two
// round trips if that is longer, because only an answered ping proves how old a push can be. After 30 s without a push
// and without a move on the screen, and while the last ping has no answer, there is one ping a second. If only renewals
// are pushed, at least 200 a second, over a link of at most a millisecond, pushes are read at each ping and not at
// once, because each message would wake Go's poller. A closed connection is noticed at once, a silent one after
// Options.Silence.
//
// A source keeps at most 100,000 keys that are configured, by name or pattern, 12,000 guessed ones, and 22 MB of names
// and values. A warning reports if there are more. With 100,000 keys and names of 40 bytes the program needs 290 MB.
// The source keeps the whole row of only the first 20,000 keys, and checksums of the other rows, because the Hub also
// keeps the rows. The size of a server's messages is bounded (see internal/ground/respwire).
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
// Keys of a pattern that begins with a wildcard have no prefix. Without keyspace events, these keys are tracked one by
// one: the read connection redirects its tracking to the push connection, and after CLIENT CACHING YES and a read the
// server pushes the next change. If the server does not redirect, they are polled. New keys are found by polling. The
// server's table of such keys is bounded. A full table drops keys, and pushes them as if they had changed. A key with
// more than ten pushes a second without a change is therefore polled until the next connect; if more than ten keys have
// such pushes in one second, further keys are polled as well. A warning gives the reason for all polling that tracking
// could replace. About.Sampling is the pause between two looks.
//
// A mode that is proven to miss changes is not used until the next connect. Keyspace events miss changes when their
// configuration has changed, which is read once a second. Any mode does when a look finds a change, and a later ping is
// answered without a push of that change.
//
// # Bursts
//
// Pushed keys are read before everything else. If more keys are pushed than can be read at once, keys on screen come
// first, then mostly the newest, so that a new change need not wait until the burst is read. A push that waits for
// longer than Options.Silence proves that the rows are out of date: Next returns Relists, and everything is read again.
//
// After one command that writes to more than 50,000 keys, the names in the push are not used: all
// known keys are read, and new ones are searched for.
//
// # What is read, and why without a transaction
//
// A push has only the name of a key, so every pushed key is read: PTTL, GETRANGE 0 4095, STRLEN, PTTL. MULTI and EVAL
// would make the four atomic, but need rights that a watcher should not ask for (EVAL can write). Instead the remaining
// time is read before and after the value. Unless it is equal, or fell by the time that passed, the key was written in
// between and is read again. This misses a write that shortens the remaining time by no more than the duration of the
// reading. Then the old owner is shown with the new end until the push of that write, or the next poll, corrects it.
//
// Pushed keys are read at once. Only if the last hundred reads all showed renewals, pushes wait at most 15 ms for
// others. A thousand leases that are renewed every second then need only a hundred round trips, and a change among them
// still gets its instant.
//
// A sweep reads pushed keys with PTTL and GETRANGE only. A key that differs, or has at least 4,096 bytes, is then read
// with all four commands.
//
// # What is shown of a value
//
// The value of a lock, or the field of its hash, is enough to release the lock. So the package shows only these parts
// of it: text that is positively a name (internal/ground/legible), matches of Options.Legible, and the data after a
// UUID and a blank, without secrets. The owner's ID is the value only if all of it is a name. Otherwise the ID is made
// from the sha1 of the part that stays the same: the UUID before data or a number, ShedLock's UUID, Redisson's client
// and thread, or else the value without the parts that a renewal rewrites (a time, or a number that is named as a time
// or a count). The guard is that of rediscoord, for the key and its whole value.
//
// Owners have no Session, because no ownership ends with one. lockformat knows the libraries that give their locks no
// TTL by design; their rows have sources.NoTTLLabel.
//
// # What is a lock if nothing is selected
//
// lockformat has the formats of libraries, and finds the keys that belong to one lock. Sweeps scan all keys. The first
// sweep scans 20,000 at once; the others use at most Options.Share of a core of the server, whose CPU time is read.
// Keys whose names prove a lock, or have a word for one, are selected by the name. For other keys the type is read, and
// then the first 64 bytes of a string, one field of a hash, or the first member of a sorted set. Such a key is a lock
// if a library's locks have such values, and if it has a TTL or no other program writes such values. If only a random
// value makes them locks, at most 5,000 keys whose names begin alike are listed, and at most 20 of those that may be
// sessions. Until the first pass is complete, About.Partial is Reading.
//
// The companions of a lock are read with it, but not at the same instant. If only a companion changes, that shows at
// the next look at the lock.
//
// # Rights
//
// A user needs ping, pttl, strlen and getrange on the keys, and scan for patterns; client|tracking for pushes (over
// RESP2 also client|id, subscribe and the channel __redis__:invalidate; for keys without a prefix also client|caching
// and client|id); or config|get, psubscribe and exactly the patterns __keyspace@DB__:PATTERN for keyspace events; type,
// hlen, hgetall and object|encoding for locks that are kept in hashes, zcard and zrange for those in sorted sets,
// hrandfield for names without a word for a lock; lrange, llen, hget and pubsub|numsub for companions. The other
// commands (role, info, dbsize, client|setname, client|no-touch) may be refused.
//
// The login reads a few keys. If the user lacks pttl, strlen or getrange, Connect fails with the name of the missing
// right. If the right is taken away later, the notes of the keys name it.
//
// The server logs a refused command in its ACL LOG, so this source does not send it again until Refresh, not even on
// later connections; only indispensable commands are tried at each connect. Once a second it tries one key, a refused
// one if there is any. If the right to a key was taken or given, everything is read again.
//
// # Times
//
// The server answers in order, so that a pushed change happened after the last ping was sent that was answered before
// the push. The tolerance is 25 ms, or three round trips if those are longer, but at most 300 ms. If that ping is not
// older than the tolerance, and the key was read within the tolerance, the change gets the instant at which the push
// arrived (Change.After zero), which is right to within that time. Any other change, with or without a push, lies in
// (After, At]. At is the arrival of the look's answer. After is the time at which the last look that showed the old
// state was sent, or the last ping that was answered before the push. For a key whose changes were pushed, After may
// also be the last ping that an earlier connection answered. If a lease ran out while any other end would have been
// pushed, it ended no earlier than its earliest deadline, which is then After. A ping sent with the look proves that.
// If its answer is late, the end is sent later, or with the last answered ping as After.
//
// If a free key was written to and not read within the tolerance, it may have had an owner before the read.
// Change.Unseen reports that, and no gap is counted across it. Ownerships shorter than the delay of a push are missed.
//
// Remaining times become local deadlines when they are read: a lease ends in (Expires.After, Expires.At]. Redis deletes
// and pushes an expired key only when it happens to find it, sometimes minutes later, so that each key is also read at
// its deadline. A polled key is also read shortly before that. If that read was late or missing, the owner may have
// renewed the lease and released the lock unseen, and the end has no cause.
//
// # Causes
//
// If maxmemory-policy lets the server drop keys, an end while evicted_keys grew has no cause.
//
// Only keyspace events report why a key is gone (del, expired, evicted, overwritten). A flush of the database is
// inferred from the push without names. Other causes are inferred by the Hub, which compares the end with the lease.
//
// A new run_id at a new connection is reported in About.Incarnation: as another server if the address also differs,
// else as a restart. A server from 7.0 on has lost all ownerships if it loaded no data at its start, has no append-only
// file and is no promoted replica. Then Primitive.Incarnation changes, and the restart is the cause of each end. The
// same holds if, of 100 owners that should still be there, none is. Otherwise owners do not depend on the Incarnation,
// because a restart may keep them.
//
// A write to a key of the same name in another database is also pushed; the read shows that nothing changed. SWAPDB is
// never pushed, and a flush is no keyspace event. Their changes are found by the resync, once a minute, or at the next
// write to the key. The server's count of these commands is read once a second and after a change of owner. If it grew,
// a changed owner may have changed before the push, at any time since the last look.
package redissource
