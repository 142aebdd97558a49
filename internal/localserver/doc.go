// Package localserver starts real servers as private processes for the tests and for
// the demo: one file a server, on parts that they share.
//
// It may import internal/ground/spawn.
//
// A server started here listens on 127.0.0.1 only and never on its standard port, keeps
// nothing on disk unless asked to, and is the leader of a session of its own, so that
// ctrl-c on the terminal reaches its parent alone.
//
// # Nothing is left behind
//
// A parent can die without running another instruction (SIGKILL, a panic, the test
// binary's time-out), and its server and the server's folder must still vanish. So every server
// has a guard: a tiny shell that reads a pipe whose other end the parent holds. At the end of the
// pipe it kills the server and removes the folder. The guard makes the folder, and the server
// tells the guard its process id before it becomes the server, so there is no instant at which a
// dying parent could leave either behind. Stop takes the same path. (A kernel's parent-death
// signal removes no folder, is tied to a thread, and exists on Linux only.)
//
// Where the guard is killed too, [RemoveDead] removes the folder at the next start of a demo: parent,
// guard and server hold a pipe in it, which nobody holds when all have ended.
//
// A server that refuses to be root runs as another user when we are root; the guard stays
// ours and can end it. Postgres also keeps a System V segment outside its folder, so its
// guard asks it to shut down at once and kills only what does not obey.
//
// # Tests
//
// A test gets its server from a function that ends in ForTest, which stops the server when
// the test ends. A missing server fails the test; it never skips it. Only a short run
// ("go test -short", "make quick") skips what needs a server ([NeedsServer]), and starts
// none: there a test that forgot to say so fails.
//
// # Proxy
//
// [Proxy] stands between a client and a server and misbehaves like a network: it cuts
// links, swallows bytes in silence, delays them, and loses single replies. It cannot
// keep the kernels at both ends from answering each other's keepalives: a [Namespace] has a
// link that is cut as a cable is.
//
// All methods of all types are safe for concurrent use.
package localserver
