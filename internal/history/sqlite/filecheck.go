package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
)

// checked is the size of the largest file that is read whole when a Writer begins, which takes some tenths of a second.
const checked = 64 << 20

// check starts a goroutine that reads the whole file at path, which is in WAL mode, while its Writer records. found
// receives the error about a damaged page. The caller must call end, which stops the goroutine and waits for it.
func check(ctx context.Context, path string) (found chan error, end func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	found = make(chan error, 1)
	var running sync.WaitGroup
	spawn.Go(ctx, &running, func() {
		db, err := connect(path, reading, 1)
		if err != nil {
			return // the Writer has its own connection
		}
		defer db.Close()
		if err := explained(path, checkPages(ctx, db)); errors.Is(err, history.ErrDamaged) {
			found <- err
		}
	})
	return found, func() {
		stop()
		running.Wait()
	}
}

// checkPages returns history.ErrDamaged if a page is damaged. It does not check a large file, in which damage is
// noticed when the page is used.
func checkPages(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) error {
	var size int64
	if err := db.QueryRowContext(ctx, "select page_count * page_size from pragma_page_count, pragma_page_size").Scan(&size); err != nil || size > checked {
		return err
	}
	var said string
	if err := db.QueryRowContext(ctx, "pragma quick_check(1)").Scan(&said); err != nil || said == "ok" {
		return err
	}
	return fmt.Errorf("%w: %s", history.ErrDamaged, said)
}

// aside is the error about a damaged file that was renamed.
type aside string

func (a aside) Error() string { return string(a) }

// Is reports that it is history.ErrDamaged and history.ErrMoved.
func (aside) Is(target error) bool { return target == history.ErrDamaged || target == history.ErrMoved }

// putAside ends the use of a damaged file and renames it, so that another one can be begun at once.
func (w *Writer) putAside(err error) error {
	err = errors.Join(err, w.shut())
	note, failed := setAside(w.o.Path, time.Now())
	if failed != nil {
		return errors.Join(err, failed)
	}
	return aside(note)
}
