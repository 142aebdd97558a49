// Package sqlite keeps a recording in one SQLite file: see package history for what it is.
//
// It may import internal/history, sources, sources/lane, sources/tape, internal/ground/files,
// internal/ground/spawn.
//
// # The file
//
// The file has the mode 0600, and so has what SQLite puts beside it; with [Options].Group 0640, and
// the WAL stays when nobody writes, so that members of its group can read it at any time. It is in WAL mode, so
// that any number of readers never wait for the writer nor it for them. On a network file
// system, and where SQLite refuses a WAL, it keeps a rollback journal instead
// and [Writer.Note] says so: a reader and the writer then wait for each other for some
// milliseconds.
//
// One process writes: the one that has the lock file beside it locked. [Begin] returns
// history.ErrBusy in the others.
//
// application_id, which is written before anything else, distinguishes our files from those of other
// programs: at a path that a person named, a file without it is not changed. user_version is made of two
// numbers, the lowest version that can read the file times 1,000, and its own version. A file of an older
// version is migrated by Begin in one transaction; of a newer one Begin returns history.ErrNewer, and a
// [Reader] reads it where it can. A damaged file is never written to: it is renamed to NAME.broken-DATE, and
// a new one begun. Begin checks all pages of a file of at most 64 MB; of a larger one, and of one with a WAL,
// a damaged page is noticed when it is used.
//
// Before each Write the device and the inode of the file, of its WAL and of the WAL's index are compared with
// those that were opened. Where one was renamed, replaced or removed, the Writer puts what is in the WAL into
// the file, wherever that is now, and Write returns history.ErrMoved. SQLite joins a WAL to whatever file has
// its name: so the lock file names the file that the WAL belongs to, a [Reader] refuses to join it to
// another, and Begin sets such a WAL aside, as NAME-wal.stray-DATE. A file that is overwritten in place keeps
// its inode: that is not noticed.
//
// [Reader.Extract] copies the record of a span into another file without reading an Input.
//
// # The tables
//
//   - run: one process that recorded. Between its last and the next began nobody recorded.
//   - lane: a primitive; placed: its scope, from an instant on.
//   - level, dark, lost: derived from the inputs. dark has a lane of 0 for a whole scope.
//   - recent, block, body, running: terms and events, as [coordtop/sources/tape.Encoder.Terms] and Events write them. Each
//     write adds one row of recent, in which what is said of a term later counts. Each minute all rows become one, or, where
//     they have thousands, blocks, sorted by lane: block says what is in a block, body has it, compressed. The terms that
//     have no end by then are in running, together those of 512 lanes. One whose run is over may have lasted any longer.
//   - term, event: the same as rows, as versions before 6 wrote them.
//   - gop, chunk, tail: the inputs in groups, each with a keyframe. A piece is written as a tail at once; the
//     tails of a minute become one compressed chunk. first is where it begins in all the bytes of its group.
//     thin of a whole group is 0. For one without renewals, as versions before 6 wrote it, it is the number
//     of its last input plus 1, or 1 where that is not known: the next group follows it without a hole where
//     its seq is one less.
//   - sum, part: empty. They had sums of six hours that earlier programs made.
//   - kept: the instant from which on no terms and events were dropped.
//
// Times are nanoseconds since 1970 on the wall clock of the recorder.
//
// # What is dropped
//
// See [Limits]. Where the file is too large the oldest groups go first, as long as they are older than an hour or the inputs
// take half of the room; a reader in the middle of one receives history.ErrDropped. Then the oldest terms and
// events go. All of this goes in steps of some milliseconds.
package sqlite
