// Package ydbtest is YDB's coordination service for tests and demonstrations: the wire
// protocol on real listeners or in memory, with a pure model of the service behind it.
// Any driver can use it: Start it, and give Server.URL to the driver.
//
// It may import internal/emulator/network.
//
// It imports nothing of ours, so that it cannot agree with mistakes of our client.
//
// # Layers
//
// The model (cluster and below) is a state machine: requests and the time go in, messages
// come out, in the service's order. It follows the service's own layers, from
// github.com/ydb-platform/ydb:
//
//	sessionstream.go        ydb/services/kesus/grpc_service.cpp: first message, pings, failures
//	proxy.go                ydb/core/kesus/proxy/proxy_actor.cpp: which stream has which session
//	tablet.go sessionmodel.go    ydb/core/kesus/tablet/tx_session_*.cpp: attach, detach, expiry
//	semaphoremodel.go semaphoreacquire.go semaphorewatch.go    tx_semaphore_*.cpp and tablet_db.cpp there
//	nodetree.go             the paths: directories and coordination nodes
//	refusal.go              what all of them say no with
//
// Server drives the model: server.go the clock and the front ends, coordination.go,
// scheme.go, discovery.go and auth.go the services; package network has the connections.
// Tests use faults.go and nodebackdoor.go.
//
// # Front ends
//
// A front end stands for one YDB node. All of them share the coordination nodes, so that
// a session can be stolen by a client of the same front end, which evicts its stream
// before the protection key is looked at, or of another one, which does so after.
//
// # Virtual time
//
// With Options.InMemory there are no sockets, and the server can live in a synctest
// bubble: start it, and every client, inside, dial with Server.Dial, and close all of
// them before the bubble ends. A session of thirty minutes then expires at once. The
// public Go driver works in a bubble too; only in a black hole it spins at the deadline
// of its own keep-alive, so that the bubble's time stands still.
//
// # Where it may differ from the service
//
//   - A request is handled at once and as a whole. So nobody meets a session that is just
//     being destroyed or stolen, results of one stream never overtake each other, and an
//     AlterNode is never OVERLOADED by another one.
//   - Consistency modes and the mode of the rate limiter's counters are stored, no more:
//     every read is of the newest state, as with STRICT.
//   - Texts of issues are ours. Compare statuses.
//   - An UpdateSemaphore with too much data is refused; the service refuses it and does
//     it nevertheless.
//   - The order of owners in a description is arbitrary there and here, but here it is
//     always the same; with Options.OwnersInOrder it is that of their order ids.
//   - Directories are listed by name. The root of the database has no system directory
//     (.sys), though one can be made; every directory, the database too, is a DIRECTORY.
//   - Paths may lack the first slash. There is one database; calls that name another one
//     are served all the same.
//   - Streams are counted over all front ends, which the service does for each process.
//   - ModifyPermissions is remembered, not enforced; User.Deny is enforced.
//   - A wrong password is UNAUTHORIZED, a missing or wrong ticket the gRPC status
//     UNAUTHENTICATED. Both come from general knowledge, not from the service's source.
//   - A ping may stay unanswered for a quarter of a second at least. The service gives a
//     session with a timeout below 750 ms less, down to 10 ms.
//   - There are no tables, queries, topics or rate limiters: their calls end with the
//     gRPC status UNIMPLEMENTED. Operations are never asynchronous.
//   - A restart of the tablet is instantaneous, and the streams do not wait for it.
package ydbtest
