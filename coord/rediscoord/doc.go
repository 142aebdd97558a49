// Package rediscoord is the coord driver for Redis leader keys and mutexes: a string key
// with an expiry, whose value proves who owns it.
//
// # Key and value
//
// The form is that of LeaderService of dk-server-foundation (src/services/leader.ts and
// src/helpers/redis/mutex.ts there), so that candidates of both contend for one key. A
// claim's name is the whole Redis key, which they build as <prefix>:leader:<name> for an election
// and <prefix>:<name> for a mutex. The value is a nonce, a random UUID made for every claim; or the
// nonce, one space and the claim's data. Their scripts compare values as a whole, ours the nonce in
// front, so that ours is ours whatever became of a proclamation. The nonce is a secret: this package
// shows it as # and 8 hex digits of its sha1 ([OwnerOf], [ShortID]), which is also our identity in
// coord.GrantInfo and coord.Description. Values of other libraries are secrets too, but for what in
// them is positively a name.
//
// # What a lease rests on
//
// A key is set with PX and prolonged by a compare-and-expire; each grant renews itself. A
// window runs from the sending of the try, or of the renewal, that the server confirmed,
// and lasts as long as the PX that it was sent with: the server counts from a later
// instant. What Redis cannot promise: a failover may forget the newest
// writes, and then two owners trust their windows at a time; so they may when the server's
// wall clock is set forward, because Redis keeps the end of a key as a time of that clock
// (keep it slewed, not stepped); eviction and an operator's DEL take a key away, which the
// next renewal notices. There is no fence against these.
//
// # Uncertain answers
//
// When a reply is lost nobody knows whether the command was obeyed. No command is sent a
// second time by the library underneath. After an uncertain try the driver asks the renewal script
// with the same nonce before it believes that it missed; an uncertain release or proclamation is
// sent again. A nonce whose outcome cannot be learned in time is remembered, and given back before
// the next claim of its key and when the session closes.
//
// A try that has no answer may also still be on its way: held by the network, or unread by a server
// that is stopped. To give it back is not enough then, because it may arrive afterwards. So the
// server is made to end the connection that it was sent on (CLIENT KILL, by number and address,
// so that it can be nobody else's); only then is a claim a miss. Without this right, without an
// answer, and behind a proxy that shares connections, the error wraps coord.ErrUncertain: whether it
// was taken is not known, and it would run out within its TTL of its arrival.
//
// # Waiting
//
// Redis keeps no queue. A waiting claim tries again after a pause, spread by jitter, of at
// most [Options].RetryDelay, or when the key's expiry is due. A key that has no expiry is
// [ErrNoExpiry]: nobody but a person will free it. A key of another type is
// coord.ErrRefused.
//
// # Release by force
//
// [Driver.ForceRelease] ends what somebody else owns. One script compares the sha1 of the key's
// name and its whole value (of a hash: of the owner's field and its value; of a sorted set: of
// the owner's member) with the one that was on the screen, removes what belongs to that owner,
// and does what wakes those who wait. A renewal of the lease alone is no change, and neither is
// an owner that released the key and took it again with the same value. The old owner is told
// nothing: it goes on until it next compares. Where the answer is lost, or a right is missing for
// a later step, the error wraps coord.ErrUncertain: nobody asks again, because another owner may
// have the same value by then.
//
// # Servers that lie
//
// What a server or a Sentinel answers is bounded where it is read (see
// internal/ground/respwire): an answer that no Redis gives ends the connection with an error that
// names the server. Sentinels are asked by this package and not by the library, which reads
// their answers where a panic ends the program: the master's address is the first that one
// of them gives, only those that were named are asked, and a notice that the master was
// switched only makes us ask again.
//
// # Rights
//
// A candidate needs +evalsha +eval +get +set +exists +del +pexpire and its keys (~pattern);
// +pttl and +type let it see when a key is due and what is wrong with it; +getrange and +type to
// describe; +ping, +hello and +client|setname are optional. A forced release needs +evalsha +eval +get +del, and +type but for
// strings; of a hash +hlen +hgetall +hdel, of a sorted set +zcard +zrange +zrem, and +strlen and
// +getrange, +publish and what else wakes the library's waiters. +client|info with +client|kill lets
// it be sure of what became of a try without an answer.
package rediscoord
