package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"coordtop/internal/ground/files"
	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// How a file is opened.
const (
	reading = "mode=ro&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=busy_timeout(2000)"
	writing = "mode=rw&_txlock=immediate&_pragma=busy_timeout(2000)"
)

// sidecars returns the suffixes of the files that SQLite keeps beside a database.
func sidecars() []string { return []string{"-wal", "-shm", "-journal"} }

// connect opens no file yet. No option can set the journal mode, see journal. It refuses a file beside path that is not
// regular, because SQLite would wait for the other end of a pipe even after the context has ended.
func connect(path, how string, connections int) (*sql.DB, error) {
	for _, end := range sidecars() {
		if info, err := os.Stat(path + end); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no file (%v): remove it", path+end, info.Mode().Type())
		}
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: how}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// explained adds the name of the file to an error. It translates errors of SQLite and of the decoder to
// history.ErrDamaged, history.ErrNewer, ENOSPC and EACCES; of others it keeps only the text.
func explained(path string, err error) error {
	switch {
	case errors.Is(err, tape.ErrNewerRecording):
		return fmt.Errorf("%s: %w", path, history.ErrNewer)
	case errors.Is(err, sources.ErrRecording):
		return fmt.Errorf("%s: %w: %w", path, history.ErrDamaged, err)
	case errors.Is(err, history.ErrForeign) || errors.Is(err, history.ErrNewer):
		return fmt.Errorf("%s: %w", path, err)
	}
	failed, ok := errors.AsType[*driver.Error](err)
	if of, damaged := errors.AsType[tables.Damage](err); damaged {
		return fmt.Errorf("%s: %s: %w", path, string(of), history.ErrDamaged)
	}
	if err == nil || !ok {
		return err
	}
	cause := map[int]error{
		lib.SQLITE_CORRUPT: history.ErrDamaged, lib.SQLITE_NOTADB: history.ErrDamaged, lib.SQLITE_FULL: syscall.ENOSPC,
		lib.SQLITE_READONLY: syscall.EACCES, lib.SQLITE_CANTOPEN: syscall.EACCES, lib.SQLITE_PERM: syscall.EACCES,
	}[failed.Code()&0xff]
	return fmt.Errorf("%s: %w", path, cmp.Or(cause, err))
}

// header identifies the program that wrote a file, from the file's first bytes.
type header struct {
	empty  bool // the file is missing, not regular or empty, so it may become a recording
	sqlite bool
	ours   bool // by its application_id, which is written before anything else
}

func headerOf(path string) (header, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return header{empty: true}, nil // opening it returns the error
	}
	f, err := os.Open(path)
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	head := make([]byte, 72)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return header{}, err
	}
	return header{empty: n == 0, sqlite: bytes.HasPrefix(head, []byte("SQLite format 3\x00")), ours: binary.BigEndian.Uint32(head[68:]) == applicationID}, nil
}

// create makes an empty file in folder if the file is missing, so that SQLite gives the files beside it the same mode.
// Files that an earlier run left there also get this mode. A file that has the mode already is not opened, because
// closing it would remove all locks of this process, including SQLite's, so that other processes could truncate the
// index of the WAL.
func create(folder *os.File, path string, mode os.FileMode) error {
	for _, end := range append(sidecars(), "") {
		info, err := os.Lstat(path + end)
		if end != "" && errors.Is(err, os.ErrNotExist) || err == nil && files.IsOurs(info, mode) {
			continue
		}
		f, err := files.OpenOurs(folder, filepath.Base(path+end), 0, mode)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepWAL keeps the WAL and its index even if nobody has the file open. Without them, users who may not write to the
// folder cannot read a file in WAL mode.
func keepWAL(conn *sql.Conn) error {
	return conn.Raw(func(c any) error {
		_, err := c.(driver.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
}

// open opens the file for writing, in WAL mode if possible; note reports if that is impossible.
func open(ctx context.Context, path string, local bool) (db *sql.DB, note string, err error) {
	if db, err = connect(path, writing, 1); err != nil {
		return nil, "", err
	}
	has, _, err := versionOf(ctx, db)
	if err == nil && has > version {
		err = history.ErrNewer
	}
	if err == nil {
		note, err = journal(ctx, db, local, has == 0)
	}
	if err == nil {
		err = migrate(ctx, db, has)
	}
	if err != nil {
		return nil, "", errors.Join(explained(path, err), db.Close())
	}
	return db, note, nil
}

// journal sets the journal mode. If a WAL is impossible, SQLite returns no error, but the mode that it chose instead.
// In a new file it sets application_id first; otherwise only the WAL would have the id until a checkpoint.
func journal(ctx context.Context, db *sql.DB, local, newFile bool) (note string, err error) {
	begin := "pragma auto_vacuum = incremental; pragma journal_size_limit = 16777216"
	if newFile {
		begin += fmt.Sprintf("; pragma application_id = %d", applicationID)
	}
	if _, err := db.ExecContext(ctx, begin); err != nil {
		return "", err
	}
	var took string
	if local {
		if err := db.QueryRowContext(ctx, "pragma journal_mode = wal").Scan(&took); err != nil {
			return "", err
		}
	}
	if took == "wal" {
		_, err := db.ExecContext(ctx, "pragma synchronous = normal")
		return "", err
	}
	if err := db.QueryRowContext(ctx, "pragma journal_mode = delete").Scan(&took); err != nil {
		return "", err
	}
	_, err = db.ExecContext(ctx, "pragma synchronous = full")
	return "recorded without a WAL, because the file system is not local or cannot have one: set history.file to a local disk", err
}

// asideTime is the layout of the time in the name of a file that was set aside.
const asideTime = "20060102T150405"

// setAside renames a damaged file and the files beside it, so that a new one can be begun.
func setAside(path string, now time.Time) (note string, err error) {
	to := path + ".broken-" + now.UTC().Format(asideTime)
	if err := os.Rename(path, to); err != nil {
		return "", err
	}
	for _, end := range sidecars() {
		if err := os.Rename(path+end, to+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return fmt.Sprintf("the recording was damaged: it was renamed to %s, and a new one begun", to), nil
}
