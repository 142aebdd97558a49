// Package sqlite stores a recording (see package history) in one SQLite file.
//
// It may import internal/history, internal/history/tables, sources, sources/tape, internal/ground/files,
// internal/ground/spawn.
//
// # The file
//
// The file and the files that SQLite puts beside it have the mode 0600. With [Options].Group the mode is 0640, and the
// WAL stays when nobody writes, so that members of the file's group can read it at any time. The file is in WAL mode,
// so that readers and the writer never wait for each other. On a network file system, or if SQLite refuses a WAL, it
// has a rollback journal instead, which [Writer.Note] reports. A reader and the writer then wait for each other for
// some milliseconds.
//
// One process writes: the one that has the lock file beside it locked. [Begin] returns
// history.ErrBusy in the others.
//
// application_id, which is written before anything else, distinguishes our files from those of other programs. At a
// path that a person named, a file without this id is not changed. user_version is the lowest version that can read the
// file times 1,000, plus the file's own version. Begin migrates a file of an older version in one transaction. For a
// newer file it returns history.ErrNewer, but a [Reader] reads the file if it can. A damaged file is never written to:
// it is renamed to NAME.broken-DATE, and a new one is begun. Begin checks all pages of a file of at most 64 MB; of a
// larger one, and of one with a WAL, a damaged page is noticed when it is used.
//
// Before each Write the device and the inode of the file, of its WAL and of the WAL's index are compared with those
// that were opened. If one was renamed, replaced or removed, the Writer moves the content of the WAL into the file,
// even if that has another path now, and Write returns history.ErrMoved. SQLite applies a WAL to any file of the
// matching name. Therefore the lock file names the file that the WAL belongs to, a [Reader] does not apply the WAL to
// another file, and Begin renames such a WAL to NAME-wal.stray-DATE. Overwriting a file in place is not noticed,
// because the inode stays.
//
// [Reader.Extract] copies the record of a span into another file without decoding Inputs.
//
// # The tables
//
// Package tables writes and reads all of them but term, event, sum and part.
//
//   - run: one process that recorded. Nobody recorded between its "last" and the "began" of the next run.
//   - lane: a primitive; placed: its scope, from an instant on.
//   - level, dark, lost: derived from the inputs. dark has a lane of 0 for a whole scope.
//   - recent, block, body, running: terms and events, as [coordtop/sources/tape.Encoder.Terms] and Events write them.
//     Each write adds one row of recent; the last entry of a term counts. Each minute all these rows become one row,
//     or, if they have thousands of entries, blocks that are sorted by lane: block describes the content of a block,
//     and body has it, compressed. Terms without an end at that time are in running, those of 512 lanes in one row. The
//     end of such a term is unknown if its run has ended.
//   - term, event: the same as rows, as versions before 6 wrote them.
//   - gop, chunk, tail: the inputs in groups, each with a keyframe. A piece is written as a tail at once; the tails of
//     a minute become one compressed chunk. first is its offset in the bytes of its group. thin is 0 for a whole group.
//     For a group without renewals, which versions before 6 wrote, thin is the number of the last input plus 1, or 1 if
//     that is unknown. The next group follows without a hole if its seq is thin-1.
//   - sum, part: empty. Earlier versions kept sums of six hours in them.
//   - kept: the instant from which on no terms and events were dropped.
//
// Times are nanoseconds since 1970 on the wall clock of the recorder.
//
// # What is dropped
//
// See [Limits]. If the file is too large, the oldest groups are dropped first, as long as they are older than an hour
// or the inputs take half of the size. A reader inside a dropped group receives history.ErrDropped. Then the oldest
// terms and events are dropped. All of this happens in steps of some milliseconds.
package sqlite
