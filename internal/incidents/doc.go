// Package incidents has no code but tests: five incidents on real servers, recorded by the program, and eight questions
// about each that an engineer on call asks afterwards. "make incidents" makes them; other runs leave them out.
//
// It may import nothing of this module.
//
// # How
//
// The driver of an incident is a few programs that own and await locks, and what goes wrong with them. A witness asks the
// servers themselves every few ms who owns and who waits: that is the truth, and the program has no part in it. The
// program records as a process of its own, and the recording is exported. Then each answer is read where a person reads
// it: on the page that `coordtop replay FILE` opens on, on its screens, in `coordtop report`, or in `coordtop history`; all of
// them read the exported file, as somebody does who was sent it. What is read is compared with the truth, within what the
// program itself states: the stretch between two looks where a source is polled, and half a second, or two where nothing
// happened, where a recorder was killed.
//
// # The incidents
//
//   - a leader flaps behind a store that is slow for it, and the store hangs (Redis)
//   - a lock leaks: its owner is idle in a transaction of a pooled session, others queue, and a person ends it by force (Postgres)
//   - a lock of Redisson loses its end, its owner dies, and a person deletes it (Redis)
//   - a leader stops, and comes back in the middle of a rolling deployment (YDB, dflockd)
//   - two environments have the same names: an outage of one, a release by force in the other, a recorder that dies (Redis)
package incidents
