// Package respwire bounds the memory that a Redis server, or whatever answers at its address, can make its client use.
// The client library allocates the size that the header of a reply announces, before any of it has arrived, and
// recurses as deep as replies are nested. A [Conn] stands between the library and the network and checks the replies.
//
// It may import internal/ground/format.
//
// # What is bounded
//
// A Conn passes replies on unchanged, byte by byte as they come, as long as they keep to [Limits]. It passes on no byte
// of the first header that breaks a limit, so that the library never reads a length that is too large. From then on
// each Read returns the same [Error], a sentence for people about what was wrong. The connection cannot be used after
// that.
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
//   - A first line that is not RESP2 or RESP3 is an Error. Streamed strings and
//     aggregates ($? *?) are errors too: no server sends them, and the library does not read them.
//
// One thing is changed on the way: if the server pushes a list of more than Limits.List
// names, as Redis does for a command that writes to so many keys, the list is passed on as an
// empty one, which no server sends.
//
// # Gathering
//
// While [Conn.Gather] is on, each Read waits for Release, for 25 ms at most. During the wait the kernel reports bytes
// to the program only from 64 kB on (SO_RCVLOWAT), because otherwise a socket wakes Go's poller for each message,
// whether a Read waits or not. A Read that finds nothing after Release is woken by the first byte as usual. A Read
// after one that filled its buffer does not wait, so that one Release lets through everything that came before it.
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
// The split of RESP into lines and payloads does not depend on the nesting of values, so the
// scanner and the library always agree about the place of a header. They disagree
// about one thing: inside a reply that the library throws away, it counts an attribute as a
// value. That changes the end of a reply for the library, but lets no length pass the scanner.
//
// A Conn is safe for one reader and one writer at a time. The library uses its connections in this way.
package respwire
