// Package rediscoord is the coord driver for Redis leader keys and mutexes: a string key
// with an expiry, whose value proves who owns it.
//
// It may import coord, coord/certs, coord/internal/lifetime, internal/ground/*.
//
// # Key and value
//
// The form is that of LeaderService of dk-server-foundation (src/services/leader.ts and src/helpers/redis/mutex.ts
// there), so that candidates of both contend for one key. A claim's name is the whole Redis key, which they build as
// <prefix>:leader:<name> for an election and <prefix>:<name> for a mutex. The value is a nonce, a random UUID made for
// every claim; or the nonce, one space and the claim's data. Their scripts compare whole values. Ours compare only the
// nonce, so that we recognise our key even if we do not know whether a proclamation was written. The nonce is a secret:
// this package shows it as # and 8 hex digits of its sha1 ([OwnerOf], [ShortID]), which is also our identity in
// coord.GrantInfo and coord.Description. Values of other libraries are also secrets, except a part that is positively a
// name.
//
// # What a lease rests on
//
// A key is set with PX and prolonged by a compare-and-expire; each grant renews itself. A window begins when the
// confirmed try or renewal was sent, and lasts for its PX; the server counts from a later instant. Redis cannot promise
// that nothing else ends ownership. A failover may forget the newest writes, and then two owners trust their windows at
// the same time. The same happens when the server's wall clock is set forward, because Redis stores the end of a key as
// a time of that clock (keep it slewed, not stepped). Eviction and an operator's DEL remove a key, which the next
// renewal notices. There is no fence against these.
//
// # Uncertain answers
//
// When a reply is lost, it is unknown whether the command was executed. The library never sends a command a second time
// by itself. After an uncertain try the driver runs the renewal script with the same nonce before it reports a miss; it
// sends an uncertain release or proclamation again. If the key may still have the nonce after that, the session
// remembers it, and releases the key before the next claim of that key and when the session closes.
//
// A try without an answer may still arrive, because the network delays it or a stopped server has not read it. A
// release is not enough then, because the try may be executed after the release. So the driver makes the server end the
// connection that the try was sent on (CLIENT KILL, by number and address, so that it cannot be another client's); only
// then is the claim a miss. Without this right, without an answer, or behind a proxy that shares connections, the error
// wraps coord.ErrUncertain: when the try arrives it may take the key, which then expires after its TTL.
//
// # Waiting
//
// Redis keeps no queue. A waiting claim tries again after a pause with jitter of at most [Options].RetryDelay, or when
// the key's expiry is due. If the key has no expiry, the error is [ErrNoExpiry], because only a person can free it. If
// it has another type, the error is coord.ErrRefused.
//
// # Release by force
//
// [Driver.ForceRelease] ends the ownership of others. One script compares the sha1 of the key's name and its whole
// value (of a hash: of the owner's field and its value; of a sorted set: of the owner's member) with what was on the
// screen, removes the part that belongs to that owner, and wakes the waiters. A renewal does not count as a change, nor
// does an owner that released the key and took it again with the same value. The old owner is not notified and
// continues until its next renewal. If the answer is lost, or a right is missing for a later step, the error wraps
// coord.ErrUncertain, and the release is not sent again, because another owner may have the same value by then.
//
// # Malformed answers
//
// The answers of servers and Sentinels are bounded where they are read (see internal/ground/respwire). An answer that
// no Redis gives ends the connection with an error that names the server. This package asks the Sentinels itself,
// because a malformed answer makes the library panic in a goroutine of its own, which ends the program. The first
// Sentinel that answers names the master, only the Sentinels of the options are asked, and after a notice that the
// master was switched we ask again.
//
// # Rights
//
// A candidate needs +evalsha +eval +get +set +exists +del +pexpire and its keys (~pattern);
// +pttl and +type let it see the expiry and the type of a key; +getrange and +type let it
// describe; +ping, +hello and +client|setname are optional. A forced release needs +evalsha +eval +get +del, and +type but for
// strings; for a hash also +hlen +hgetall +hdel, for a sorted set +zcard +zrange +zrem, and +strlen,
// +getrange, +publish and the commands that wake the library's waiters. +client|info with +client|kill let it
// end a try without an answer.
package rediscoord
