// Package localserver starts real servers as private processes for the tests and for the demo. Each kind of server has
// its own files, on top of shared parts.
//
// It may import internal/ground/spawn.
//
// A server started here listens on 127.0.0.1 only and never on its standard port, keeps no data on disk unless an
// option says so, and leads its own session, so that ctrl-c on the terminal reaches only its parent.
//
// # Nothing is left behind
//
// A parent can die without running another instruction (SIGKILL, a panic, the test binary's time-out), and its server
// and the server's folder must still vanish. So every server has a guard: a tiny shell that reads a pipe whose other
// end the parent holds. When the pipe ends, the guard kills the server and removes the folder. The guard itself makes
// the folder, and the new process writes its id to the guard before it becomes the server, so a dying parent can never
// leave either behind. Stop also ends the pipe. (A kernel's parent-death signal removes no folder, is tied to a thread,
// and exists on Linux only.)
//
// If the guard is also killed, [RemoveDead] removes the folder at the next start of a demo. It knows that the parent,
// the guard and the server have ended because none of them holds a pipe in the folder open any more.
//
// If we are root, a server that refuses to be root runs as another user; the guard still runs as root and can end it.
// Postgres also keeps a System V segment outside its folder, so its guard requests an immediate shutdown and kills only
// processes that do not obey.
//
// # Tests
//
// A test gets its server from a function that ends in ForTest, which stops the server when the test ends. A missing
// server fails the test; it never skips it. Only a short run ("go test -short", "make quick") skips tests that call
// [NeedsServer]. It starts no server, so a test that needs one and does not call NeedsServer fails.
//
// # Proxy
//
// [Proxy] stands between a client and a server and misbehaves like a network: it cuts links, swallows bytes in silence,
// delays them, and loses single replies. It cannot stop the kernels at both ends from answering keepalives; the link of
// a [Namespace] can be cut like a cable.
//
// All methods of all types are safe for concurrent use.
package localserver
