// Package respwire bounds what a Redis server, or whatever answers at its address, can
// make a client of it hold in memory. The client library allocates what the header of a
// reply announces, before any of it has arrived, and descends into replies as deep as they
// are nested; a [Conn] stands between the library and the network and reads along.
//
// # What is bounded
//
// A Conn passes replies on unchanged, byte by byte as they come, as long as they keep to
// [Limits]. It passes nothing of the first header that does not, so that the library never
// sees a length that is too large; from then on each Read returns the same [Error], which
// says what was wrong in a sentence for people. The connection is of no use after that.
//
//   - A reply, and all that is answered between two writes of the client, has at most
//     Limits.Bytes bytes, announced ones included, and Limits.Values values: elements of
//     arrays, sets and pushes, keys and values of maps and attributes. On a connection on
//     which the server pushes ([Conn.Stream]) each message counts by itself,
//     because the client drops it before it reads the next.
//   - Values are nested at most Limits.Depth deep.
//   - A line (a simple string, an error, a number) has at most Limits.Line bytes.
//   - A reply carries at most Limits.Attributes attributes: the library descends once more
//     for each of them. No server is known to send any.
//   - What is not RESP2 or RESP3 is an Error at its first line. Streamed strings and
//     aggregates ($? *?) are not: no server sends them, and the library does not read them.
//
// One thing is changed on the way: where the server pushes a list of more than Limits.List
// names, as Redis does for a step that writes to so many keys, the list is passed on as an
// empty one, which no server sends.
//
// # Gathering
//
// While [Conn.Gather] is on, each Read waits for Release, for 25 ms at most, and the kernel tells the program
// of what comes only from 64 kB on (SO_RCVLOWAT): else a socket wakes Go's poller for each message, whether a
// Read waits for it or not. A Read that finds nothing after Release is woken by the first byte as ever, and one behind a
// Read that filled its buffer does not wait: one Release lets through all that came before it.
//
// # Why these numbers
//
// The defaults admit 20,000 keys of 500 bytes in one invalidation push, 500 values of 4 kB
// in one pipeline, and the reply to COMMAND; a client holds some 50 MB at most for the
// worst reply that they admit. A page of SCAN, or a transaction, whose key names are longer
// than 16 MB in all breaks the connection.
//
// # Why the two readers agree
//
// How RESP splits into lines and payloads does not depend on how values are nested, so the
// scanner and the library cannot come to disagree about where a header is. They do disagree
// about one thing: inside a reply that the library throws away, it counts an attribute as a
// value. That moves where a reply ends for it, but no length past the scanner.
//
// A Conn is safe for one reader and one writer at a time, as every net.Conn of the library
// is used.
package respwire
