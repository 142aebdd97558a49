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

// checked is up to how many bytes a file is read whole when somebody begins to write to it, in some tenths of a second.
const checked = 64 << 20

// checking reads a file in WAL mode whole beside its Writer, who records meanwhile.
type checking struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	found   chan error // capacity 1: a page is damaged
}

// check begins to read the file at path. Its end must be called.
func check(ctx context.Context, path string) *checking {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &checking{stop: stop, found: make(chan error, 1)}
	spawn.Go(ctx, &c.running, func() {
		db, err := connect(path, reading, 1)
		if err != nil {
			return // the Writer has its own connection
		}
		defer db.Close()
		if err := explained(path, checkPages(ctx, db)); errors.Is(err, history.ErrDamaged) {
			c.found <- err
		}
	})
	return c
}

// damage returns the error about a damaged page, if one was found by now. It does not wait.
func (c *checking) damage() error {
	select {
	case err := <-c.found:
		return err
	default:
		return nil
	}
}

// end waits until nothing is read any more.
func (c *checking) end() {
	c.stop()
	c.running.Wait()
}

// checkPages fails with history.ErrDamaged where a page is not what it should be. Of a large file that is noticed
// when the page is used.
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

// aside is the error about a damaged file, which was renamed: it says so.
type aside string

func (a aside) Error() string { return string(a) }

// Is makes it history.ErrDamaged and history.ErrMoved.
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
