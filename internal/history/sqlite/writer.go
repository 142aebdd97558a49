package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/files"
	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

// Options describe a recording: its path, its limits and its access.
type Options struct {
	Path   string
	Ours   bool // the program chose the path: its folder is made private, and a file there that is not a recording counts as damaged
	Alone  bool // the file will be sent to somebody, so it has no WAL
	Group  bool // members of the file's group may read it
	Limits Limits

	remote bool // treat the file system as remote; for tests
}

// Writer writes to a recording. One goroutine uses it.
type Writer struct {
	o        Options
	locked   *os.File
	db       *sql.DB   // nil: it must be opened again
	conn     *sql.Conn // its only connection
	note     string
	files    identity   // at the time of opening
	damaged  chan error // receives the error about a damaged page, if one is found
	endCheck func()     // nil: no check is running
	run      history.Run
	prepared map[string]*sql.Stmt

	copied bool // the file has only copied runs, and none of ours that must be ended
	*tables.Writer
}

// Begin opens the recording for writing, makes it if it is missing, and begins a run. The error wraps history.ErrBusy
// if another process records into it, history.ErrNewer or history.ErrForeign if it must not be written to, or the error
// of the file system. It does not change a file of another program, even a damaged one.
func Begin(ctx context.Context, o Options, run history.Run) (*Writer, error) {
	head, err := headerOf(o.Path)
	if err != nil {
		return nil, err
	}
	if !o.Ours && !head.empty && !head.ours {
		return nil, fmt.Errorf("%s: %w", o.Path, history.ErrForeign)
	}
	folder, err := o.folder()
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	locked, err := lock(folder, o.Path, o.mode())
	if err != nil {
		return nil, err
	}
	o.Limits = Limits{Keep: cmp.Or(max(o.Limits.Keep, 0), history.UsualKeep), Size: cmp.Or(max(o.Limits.Size, 0), 1<<30)}
	w := &Writer{o: o, locked: locked, run: run}
	if err := w.open(ctx, folder, head); err != nil {
		return nil, errors.Join(err, unlock(locked))
	}
	return w, nil
}

// folder opens the folder of the file.
func (o Options) folder() (*os.File, error) {
	if !o.Ours {
		return os.Open(filepath.Dir(o.Path))
	}
	folder, _, err := files.PrivateFolder(filepath.Dir(o.Path))
	return folder, err
}

// mode returns the file mode of the recording and of the files beside it.
func (o Options) mode() os.FileMode {
	if o.Group {
		return 0o640
	}
	return 0o600
}

// Note returns a sentence about something unusual about the file; "" if nothing is unusual.
func (w *Writer) Note() string { return w.note }

// open opens the file and begins the run. It sets a damaged file aside.
func (w *Writer) open(ctx context.Context, folder *os.File, head header) error {
	stray, err := setStrayAside(w.o.Path, time.Now())
	if err == nil {
		err = create(folder, w.o.Path, w.o.mode())
	}
	if err != nil {
		return err
	}
	defer func() { w.note = cmp.Or(stray, w.note) }()
	if err = history.ErrDamaged; head.empty || head.sqlite {
		err = w.begin(ctx)
	}
	if !errors.Is(err, history.ErrDamaged) {
		return err
	}
	note, err := setAside(w.o.Path, time.Now())
	if err == nil {
		err = create(folder, w.o.Path, w.o.mode())
	}
	if err == nil {
		err = w.begin(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w and cannot be replaced: %w", history.ErrDamaged, err)
	}
	w.note = note
	return nil
}

func (w *Writer) begin(ctx context.Context) error {
	db, note, err := open(ctx, w.o.Path, !w.o.Alone && !w.o.remote && !remote(w.o.Path))
	if err != nil {
		return err
	}
	if w.db = db; !w.o.Alone {
		w.note = note
	}
	w.prepared = map[string]*sql.Stmt{}
	if w.conn, err = db.Conn(ctx); err == nil && w.o.Group {
		err = keepWAL(w.conn)
	}
	if err != nil {
		return errors.Join(err, w.shut())
	}
	o := tables.Options{Transact: w.transact}
	some := false
	err = w.conn.QueryRowContext(ctx, "select exists(select 1 from term)").Scan(&some)
	if some {
		o.Owners = rows{version}.owners
	}
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "delete from part")
	}
	if err = explained(w.o.Path, err); err == nil {
		w.Writer = tables.New(o)
		err = w.Writer.Begin(w.run, nil)
	}
	if w.files = identityOf(w.o.Path); err == nil {
		err = w.files.write(w.locked)
	}
	if err != nil {
		return errors.Join(err, w.shut())
	}
	if w.files[1] == nil { // a reader and the writer would wait for each other
		if err := explained(w.o.Path, checkPages(ctx, w.conn)); err != nil {
			return errors.Join(err, w.shut())
		}
		return nil
	}
	w.damaged, w.endCheck = check(ctx, w.o.Path)
	return nil
}

// leave closes a file that is no longer at its path. It writes the WAL into the file, as far as readers allow, and does
// not touch other files at the path.
func (w *Writer) leave() error {
	err := keepWAL(w.conn)
	if err == nil {
		_, err = w.conn.ExecContext(context.Background(), "pragma wal_checkpoint(truncate)")
	}
	err = errors.Join(err, w.shut())
	is := identityOf(w.o.Path)
	for i, end := range []string{"-wal", "-shm"} {
		if was := w.files[i+1]; was != nil && is[i+1] != nil && os.SameFile(was, is[i+1]) {
			err = errors.Join(err, os.Remove(w.o.Path+end))
		}
	}
	return err
}

// Write stores b, see record.Output. After an error that wraps history.ErrMoved or fs.ErrClosed, the caller must close
// the recording and begin it again. An error about a damaged file that was renamed also wraps history.ErrMoved.
func (w *Writer) Write(b *history.Batch) error {
	if w.db == nil {
		return fs.ErrClosed
	}
	if !w.files.stands(identityOf(w.o.Path)) {
		return errors.Join(fmt.Errorf("%s: %w", w.o.Path, history.ErrMoved), w.leave())
	}
	select {
	case err := <-w.damaged:
		return w.putAside(err)
	default:
	}
	if err := w.enough(); err != nil {
		return err
	}
	err := w.Writer.Write(b)
	if errors.Is(err, history.ErrDamaged) {
		return w.putAside(err)
	}
	return err
}

// The share of a disk that is left free for others, and its bounds.
const (
	leastPercent = 2
	leastRoom    = 64 << 20
	enoughRoom   = 1 << 30
)

// leastFree returns the bytes that must stay free on a disk with the size all.
func leastFree(all int64) int64 { return min(max(leastRoom, all/100*leastPercent), enoughRoom) }

// enough returns an error if the disk is nearly full. A full disk would stop other programs, and nothing in the file
// could be dropped any more.
func (w *Writer) enough() error {
	free, all, err := room(w.o.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", w.o.Path, err)
	}
	if least := leastFree(all); free < least && free < all/2 {
		return fmt.Errorf("%s: its disk is nearly full (less than %d MB are free), so nothing more is written: %w", w.o.Path, least>>20, syscall.ENOSPC)
	}
	return nil
}

// Close ends the run and the recording, and gives the lock back. After a clean end only the file itself is left, unless
// somebody reads it. Close may be called again.
func (w *Writer) Close() error {
	if w.locked == nil {
		return nil
	}
	var err error
	if w.db != nil {
		if !w.copied {
			err = w.End()
		}
		err = errors.Join(err, w.shut())
	}
	err = errors.Join(err, unlock(w.locked))
	w.locked = nil
	return err
}

func (w *Writer) shut() error {
	if w.db == nil {
		return nil
	}
	if w.endCheck != nil {
		w.endCheck()
		w.damaged, w.endCheck = nil, nil
	}
	all := w.statements()
	err := all.close()
	if w.conn != nil {
		err = errors.Join(err, w.conn.Close())
	}
	err = errors.Join(err, w.db.Close())
	w.db, w.conn = nil, nil
	return err
}

// room returns the bytes on the disk of path that are free for us, and the size of the disk.
func room(path string) (free, all int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
