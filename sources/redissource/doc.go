// Package redissource watches the leader keys and locks of one Redis server. Looking
// changes nothing: no command of it writes, configures or blocks.
//
// # Two connections
//
// One connection carries what the server pushes and one carries reads; the server lists both as
// coordtop-watch. Neither reconnects by itself: whatever breaks one of them ends both, Next returns
// the error, and the next Connect starts with a Gap, because Redis replays nothing. The push
// connection is read all the time. It is pinged every 20 ms, or two round trips where that is more,
// because only an answered ping proves how old a push can be. It is sent once a second after 30 s in which
// nothing was pushed and nobody moved on the screen, and while the last one is not answered. While 200
// renewals a second and nothing else are pushed over a link of a millisecond, what was pushed is read at each ping and
// not as it comes: Go's poller would be woken by each message. A closed
// connection is noticed at once, a silent one after Options.Silence.
//
// A source keeps at most 100,000 keys that a person named, by patterns too, and 12,000 that are
// guessed, fewer with long names and values: 22 MB of these. A warning says so where there are
// more. 100,000 keys with names of 40 bytes make a watch of 290 MB. Of what a key showed last it keeps
// sums, and all of it for the first 20,000 keys only, because the Hub has it too. What the server sends is
// bounded (see internal/ground/respwire).
//
// # How changes are pushed
//
// At every connect the best of these is taken, and About.Mode names it:
//
//	tracking          CLIENT TRACKING over RESP3: BCAST with literal prefixes made from the patterns
//	tracking RESP2    the same, redirected to the connection's own id
//	keyspace events   only if the server has them configured
//	polling           paced by what a round costs
//
// Keys of a pattern whose variable part comes first have no prefix. Where keyspace events do
// not help, each of them is tracked by itself: the read connection redirects its tracking to
// the push connection, and a read behind CLIENT CACHING YES has the next change pushed. Where the
// server does not redirect they are polled. New keys are found by polling. The server's table of
// such keys is bounded, and one that is full forgets keys, which is pushed as if they had changed:
// a key with more than ten pushes a second without a change is polled until the next connect, and
// so are the keys with such pushes beyond the tenth key in one second. Whatever is polled although
// it could be tracked, a warning says why, and About.Sampling is the pause between two looks.
//
// A mode is left until the next connect where it is proven not to tell everything: keyspace
// events as soon as they are configured otherwise, which is asked each second, and any mode
// when a look finds a change, a later ping was answered, and no push of it came.
//
// # Bursts
//
// What was pushed comes before everything else. Where more is pushed than can be read at
// once, keys on screen come first, then mostly the newest, so that what happens now does not
// wait until a burst is read. A push that waits for longer than Options.Silence proves that
// the rows are not right: Next tells a Gap, and everything is read again.
//
// One step of the server that writes to more than 50,000 keys is not read name by name: every
// key that is known is read, and new ones are looked for.
//
// # What is read, and why without a transaction
//
// A push names a key and nothing else, so every named key is read: PTTL, GETRANGE 0 4095, STRLEN,
// PTTL. MULTI and EVAL would make the four atomic and cost rights that a watcher should not ask for
// (EVAL can write). Instead the remainder is asked before and after the value: unless it stood
// still, or fell as time passed, the key was written in between and is read again. What slips
// through is a write that gives the key a life shorter by no more than the reading took: the old
// owner is shown with its end, until the push of that write or the next poll puts it right.
//
// It is read at once. Only while the last hundred that were read were all of renewals do pushes wait up to 10 ms for others: a
// thousand leases that are renewed every second are a hundred round trips then, and a change among them is still told
// at its instant.
//
// A sweep that reads again what would have been pushed asks for PTTL and GETRANGE only. A key
// that differs then, or fills those 4,096 bytes, is read as above.
//
// # What is shown of a value
//
// Whoever knows the value of a lock, or the field of its hash, can release the lock. So of
// either only this leaves the package: what is positively a name (internal/ground/legible), what
// one of Options.Legible finds, and the data behind a UUID and a blank, without secrets. The
// owner's ID is the value only if all of it is a name; else it is made of the sha1 of what
// stays the same: the UUID before data or a number, ShedLock's UUID, Redisson's client and
// thread, the value of everybody else without what a renewal writes anew (a time, a number that
// is named as a time or a count). The guard is that of rediscoord: of the key and its whole value.
//
// No ownership ends with a session: no owner has one. A library that gives its locks no TTL by
// design is in lockformat, and their rows have sources.NoTTLLabel.
//
// # What is a lock where nothing is selected
//
// The formats of libraries, and which keys belong to one lock, are in lockformat. Sweeps pass all
// keys: the first one 20,000 at once, the others within Options.Share of a core of the server, which
// is asked for its CPU. Names that prove a lock, and those with a word for one, are found by
// themselves. Of the others the type is asked for, and of a string the first 64 bytes, of a hash
// one field, of a sorted set the first member. A value that a library's locks have, and that ends
// by itself or that nobody else writes, makes it a lock. Of keys that have nothing but a random
// value for it 5,000 are listed whose names begin alike, and 20 of those that may be sessions. Until
// the first pass is over, About.Partial says so.
//
// What stands beside a lock is read with it, but not at one instant, and what changes in it alone
// is seen at the next look at the lock.
//
// # Rights
//
// A user needs ping, pttl, strlen and getrange on the keys, and scan for patterns; client|tracking
// for pushes (over RESP2 also client|id, subscribe and the channel __redis__:invalidate; for keys
// without a prefix also client|caching and client|id); or config|get, psubscribe and the very
// patterns __keyspace@DB__:PATTERN for keyspace events; type, hlen, hgetall and object|encoding for
// locks that are kept in hashes, zcard and zrange for those in sorted sets, hrandfield where names
// say nothing; lrange, llen, hget and pubsub|numsub for what stands beside them. Whatever else is
// asked for (role, info, dbsize, client|setname, client|no-touch) is done without where it is
// refused.
//
// A few keys are read while logging in: a user who lacks one of pttl, strlen and getrange is
// refused with its name. Where one is taken away later, the notes of the keys name it.
//
// A refused command is an entry in the server's ACL LOG, so it is not asked for again by this
// source, on no later connection either, until Refresh; only what nothing works without is asked at
// each connect. Each second one key is asked for: one that may not be read, if there is any. Where
// the right to it is gone, or there again, everything is read anew.
//
// # Times
//
// The server answers in order, so what a push tells of happened after the sending of the last
// ping that was answered before it. Where that is no more than 25 ms ago, or three round
// trips where those are more, 300 ms at most, and the key was read within that time, the
// change is told at the instant the push arrived (Change.After zero), and is right to within
// that time. Otherwise, and wherever a change is found without a push, it lies in (After, At]: At
// is when the look's answer came; After is the sending of the last look that showed the old state,
// or of the last ping that was answered before the push. Over a time without connections it is the
// last ping that the earlier ones answered, for a key whose changes were pushed. A lease that ran
// out, while any other end would have been pushed, ended at the earliest when it could: that is
// After then. A ping sent with the look proves that; where its answer is held up, the end is told
// later, or with an After as early as the last ping that was answered.
//
// A key that was free, and was written to while it was not observed so closely, may have had
// an owner who came and went: Change.Unseen says so, and no gap is counted over it. Visits
// shorter than a push may take are not told.
//
// Remainders are turned into local deadlines where they are read: a lease ends in
// (Expires.After, Expires.At]. Redis deletes, and pushes, an expired key only when it
// comes across it, up to minutes later, so each key is looked at once at its deadline.
// A key that is polled is looked at shortly before it too: where that look came later or not at
// all, its owner may have renewed it and given it up unseen, and the end is told without a cause.
//
// # Causes
//
// Where maxmemory-policy lets the server drop keys, an end while evicted_keys grew has no cause.
//
// Only keyspace events tell why a key is gone (del, expired, evicted, written over); a flushed
// database is inferred from the push that names no key. The rest is left to the Hub, which compares
// the end with the lease.
//
// Another run_id at a new connection is told (About.Incarnation): as another server where the
// address differs too, else as a restart. A server from 7.0 on that loaded nothing when it began, keeps no log
// of writes and is no promoted replica has lost what was owned: Primitive.Incarnation is another one
// then, and the restart is the cause of each end, as it is where none of 100 owners that
// should be there is. Otherwise owners do not depend on it: a restart may keep them.
//
// A write to a key of the same name in another database is pushed too; the read shows that
// nothing changed. SWAPDB is pushed to nobody, and a flush is no keyspace event: what changed is
// found by the resync, once a minute, or at the next write to the key. The server's count of these
// commands, which is asked for each second and when an owner changed, shows that an owner who is seen
// to be another then may have changed before the push: since the last look.
package redissource
