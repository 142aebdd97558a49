// Package ydbtest emulates YDB's coordination service for tests and demonstrations: the wire protocol on real listeners
// or in memory, on top of a pure model of the service. Any driver can use it: call Start, and give Server.URL to the
// driver.
//
// It may import internal/emulator/network.
//
// It imports no code of our client, so that it cannot share its mistakes.
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
//	refusal.go              the refusals of all layers
//
// Server drives the model: server.go the clock and the front ends, coordination.go,
// scheme.go, discovery.go and auth.go the services; package network has the connections.
// Tests use faults.go and nodebackdoor.go.
//
// # Front ends
//
// A front end stands for one YDB node. All of them share the coordination nodes. So a session can be stolen through the
// same front end, which evicts the owner's stream before the protection key is checked, or through another one, which
// evicts it afterwards.
//
// # Virtual time
//
// With Options.InMemory there are no sockets, and the server can live in a synctest bubble: start it and every client
// inside the bubble, dial with Server.Dial, and close all of them before the bubble ends. A session of thirty minutes
// then expires at once. The public Go driver also works in a bubble, except in a black hole: there it spins at the
// deadline of its own keep-alive, so that the bubble's time does not advance.
//
// # Where it may differ from the service
//
//   - A request is handled at once and atomically. So no request meets a session that is being destroyed or stolen,
//     results of one stream never overtake each other, and an AlterNode is never OVERLOADED because of another one.
//   - Consistency modes and the mode of the rate limiter's counters are only stored: every read returns the newest
//     state, as with STRICT.
//   - Texts of issues are ours. Compare statuses.
//   - An UpdateSemaphore with too much data is refused. The service also returns an error, but updates the semaphore.
//   - The order of owners in a description is arbitrary, as in the service, but here it is always the same. With
//     Options.OwnersInOrder they are ordered by order id.
//   - Directories are listed by name. The root of the database has no system directory (.sys), but one can be made.
//     Every directory, including the database, is a DIRECTORY.
//   - Paths may lack the first slash. There is one database; calls that name another one are also served.
//   - Streams are counted over all front ends; the service counts them in each process.
//   - ModifyPermissions is stored but not enforced; User.Deny is enforced.
//   - A wrong password is UNAUTHORIZED, a missing or wrong ticket the gRPC status
//     UNAUTHENTICATED. Both come from general knowledge, not from the service's source.
//   - A client always has at least a quarter of a second to answer a ping. If the session's timeout is below 750 ms,
//     the service allows less, down to 10 ms.
//   - There are no tables, queries, topics or rate limiters: their calls end with the
//     gRPC status UNIMPLEMENTED. Operations are never asynchronous.
//   - A restart of the tablet is instantaneous; streams do not wait for the new tablet.
package ydbtest
