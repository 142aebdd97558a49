package sqlite

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/history"
	"coordtop/sources"
)

// indexInUse is the byte of the index of the WAL on which SQLite (os_unix.c, UNIX_SHM_DMS) has a lock while it uses the
// index: without that lock the next process that opens it cuts it.
const indexInUse = 128

func TestARecorderThatBeginsBesideAReaderKeepsItsLockOnTheIndexOfTheWAL(t *testing.T) {
	t.Parallel()
	o := place(t)
	first := begun(t, o, 0)
	write(t, first, batchOf(0, time.Minute, history.LaneChange{Ref: ref("x"), At: after(0), Terms: []sources.Term{term("A", time.Second, 0)}}))
	reader := store(t, o)
	if _, err := reader.Runs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil { // the reader keeps the WAL and its index
		t.Fatal(err)
	}
	second := begun(t, o, time.Minute)
	write(t, second, batchOf(time.Minute, 2*time.Minute))
	index, err := os.Open(o.Path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close() // it takes the lock away
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: indexInUse, Len: 1}
	if err := unix.FcntlFlock(index.Fd(), unix.F_OFD_GETLK, &lock); err == nil && lock.Type == unix.F_UNLCK {
		t.Error("nobody has a lock on the index of the WAL")
	} else if err != nil {
		t.Fatal(err)
	}
}
