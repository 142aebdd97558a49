// Package stories has no code but tests: incidents that a person meets, made on real servers and on the emulators, and
// what `coordtop why -o json` says of each. Beside each story stands its near twin, which looks almost alike: of it `why`
// must find nothing, or another cause. "make stories" plays all of them with the built program; other runs play those that
// take a few seconds.
//
// It may import nothing of this module.
//
// # How
//
// The programs of a story are clients of the servers: some use the drivers of coord, others only the client library of
// the server. The story knows the truth, because it made it happen: who owned what, who waits, who went, and how. The
// program runs as processes of its own: `coordtop record` where a story has a past, and `coordtop why`, again and again,
// until it finds what is expected, or for a twin until `coordtop get` shows that all has happened. An answer is compared
// as a whole: no other finding may stand beside the expected ones.
package stories
