package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// endlessRows is a query that never ends.
const endlessRows = "with recursive n(i) as (select 1 union all select i + 1 from n) select i as id, 's' as source, '' as space, 'x' as name, 1 as kind, i as since, null as gone from n"

// TestARecordingWithOtherTablesThanOursIsRefused tries what a stranger can put behind the names of our tables.
func TestARecordingWithOtherTablesThanOursIsRefused(t *testing.T) {
	t.Parallel()
	newer := fmt.Sprintf("; pragma user_version = %d", readers*1000+version+1)
	for name, change := range map[string]string{
		"a table that is a view":         "drop table lane; create view lane as " + endlessRows,
		"the same in a newer file":       "drop table lane; create view lane as " + endlessRows + newer,
		"a virtual table":                "drop table lane; create virtual table lane using fts5(source, space, name, kind, since, gone)",
		"the same in another newer file": "drop table lane; create virtual table lane using fts5(source, space, name, kind, since, gone)" + newer,
		"a trigger":                      "create trigger t after insert on event begin delete from event; end",
		"a trigger in a newer file":      "create trigger t after insert on event begin delete from event; end" + newer,
		"a trigger with a name of SQLite's": "pragma writable_schema = 1; insert into sqlite_schema values('trigger', 'sqlite_x', 'run', 0, 'create trigger sqlite_x after insert on run begin insert into lost " +
			"with recursive n(i) as (select 1 union all select i + 1 from n) select null, i, i, i from n; end')",
		"one table more":                   "create table more(id)",
		"a view of another name":           "create view more as " + endlessRows,
		"an index less":                    "drop index event_lane",
		"an index of its name and another": "drop index term_start; create index term_start on term(hue)",
		"a table without its key":          "drop table dark; create table dark(scope integer not null, lane integer not null, start integer not null, until integer, run integer not null)",
		"a column that is computed":        "drop table kept; create table kept(id integer primary key, since integer generated always as (length(zeroblob(1000000000))))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := place(t)
			changed(t, o, change)
			s := store(t, o)
			ask := map[string]func() error{
				"Runs":   func() error { _, err := s.Runs(t.Context()); return err },
				"Lanes":  func() error { _, err := s.Lanes(t.Context(), nil, span(0, h)); return err },
				"Cursor": func() error { _, err := s.Cursor(t.Context(), 0, t0); return err },
				"Begin":  func() error { _, err := Begin(t.Context(), o, history.Run{}); return err },
			}
			for what, f := range ask {
				if err := f(); !errors.Is(err, history.ErrForeign) && !(what == "Begin" && errors.Is(err, history.ErrNewer)) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestARecordingOfEachVersionHasTheTablesOfItsVersion is the twin: none of ours is refused.
func TestARecordingOfEachVersionHasTheTablesOfItsVersion(t *testing.T) {
	t.Parallel()
	for has := 1; has <= version; has++ {
		o := place(t)
		older(t, o, has)
		if _, err := store(t, o).Runs(t.Context()); err != nil {
			t.Errorf("version %d: %v", has, err)
		}
		w, err := Begin(t.Context(), o, history.Run{Span: history.Span{From: t0}})
		if err != nil {
			t.Fatalf("version %d: %v", has, err)
		}
		write(t, w, batchOf(0, sec))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := store(t, o).Runs(t.Context()); err != nil {
			t.Errorf("brought from version %d to ours: %v", has, err)
		}
	}
	o := place(t)
	changed(t, o, fmt.Sprintf("create table more(id); alter table run add column more text; pragma user_version = %d", readers*1000+version+1))
	if _, err := store(t, o).Runs(t.Context()); err != nil {
		t.Errorf("a newer one that we can read: %v", err)
	}
}

// TestAVersionThatIsNoneIsRefused has files whose header is damaged, or a stranger's.
func TestAVersionThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, user := range []int{-5, -1, -1001, 1000} {
		o := place(t)
		changed(t, o, fmt.Sprintf("pragma user_version = %d", user))
		if _, err := store(t, o).Runs(t.Context()); !errors.Is(err, history.ErrForeign) {
			t.Errorf("version %d: %v", user, err)
		}
	}
}

// changed makes a recording and changes it as SQL says.
func changed(t *testing.T, o Options, text string) {
	t.Helper()
	w, err := Begin(t.Context(), o, history.Run{Span: history.Span{From: t0}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, batchOf(0, sec, history.LaneChange{Ref: ref("x"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{term("a", 0, 1)}}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	changedFile(t, o, text)
}

// changedFile changes a recording as SQL says.
func changedFile(t *testing.T, o Options, text string) {
	t.Helper()
	db, err := connect(o.Path, "mode=rwc", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// older makes an empty recording of an older version.
func older(t *testing.T, o Options, has int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	changedFile(t, o, strings.Join(schema[:has], "")+fmt.Sprintf("; pragma application_id = %d; pragma user_version = %d", applicationID, 1000+has))
}

// TestTermsOfAnOldRecordingSayThatTheyRestOnLooks has, in a file from before the pause between two looks was
// written, a term that was seen to begin and to end within 5 s and 7 s, one that was told, and one of before
// the first look. They are read as the file is, and after it was brought to our version.
func TestTermsOfAnOldRecordingSayThatTheyRestOnLooks(t *testing.T) {
	t.Parallel()
	for has := 1; has < 4; has++ {
		o := place(t)
		older(t, o, has)
		changedFile(t, o, fmt.Sprintf(`insert into lane values(1, 's', '', 'x', %d, %d, null);
			insert into run(host, pid, version, began, last, ended) values('h', 1, 'v', %[2]d, %d, %[3]d)`, sources.KindMutex, t0.UnixNano(), t0.Add(h).UnixNano()))
		for i, stamps := range [][4]int64{{2, 5, 2, 7}, {1, 0, 1, 0}, {4, 9, 2, 0}} {
			start := t0.Add(time.Duration(i+1) * time.Minute).UnixNano()
			changedFile(t, o, fmt.Sprintf("insert into term values(1, %d, 'a', 'a', 0, %d, %d, %d, %d, %d, 0, 0, 0, 0, 1)",
				start, stamps[0], stamps[1]*int64(sec), start+int64(30*sec), stamps[2], stamps[3]*int64(sec)))
		}
		check := func(how string) {
			lanes, err := store(t, o).Lanes(t.Context(), []sources.Ref{{Source: "s", Name: "x"}}, span(0, h))
			if err != nil || len(lanes[0].Terms) != 3 {
				t.Fatal(how, err, lanes)
			}
			for i, want := range []time.Duration{7 * sec, 0, 0} {
				if got := lanes[0].Terms[i].Every; got != want {
					t.Errorf("version %d, %s: looks every %v, want %v", has, how, got, want)
				}
			}
		}
		check("as it is")
		w, err := Begin(t.Context(), o, history.Run{Span: history.Span{From: after(h)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		check("brought to ours")
	}
}

// countdown ends after it was asked so many times whether it did. It wakes nobody.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Done() <-chan struct{}       { return nil }
func (c *countdown) Deadline() (time.Time, bool) { return time.Time{}, false }

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestAQuestionAboutManyLanesEndsWithItsContext ends the context in the middle of each question.
func TestAQuestionAboutManyLanesEndsWithItsContext(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	b := batchOf(0, sec)
	var refs []sources.Ref
	for i := range 1000 {
		refs = append(refs, ref(fmt.Sprint("x", i)))
		b.Lanes = append(b.Lanes, history.LaneChange{Ref: refs[i], Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{term("a", 0, 1)}})
		b.Events = append(b.Events, sources.Event{Seq: uint64(i + 1), At: after(sec), Kind: sources.EventAcquired, Ref: refs[i]})
	}
	write(t, w, b)
	s := store(t, o)
	for name, f := range map[string]func(context.Context) error{
		"Lanes of all": func(ctx context.Context) error { _, err := s.Lanes(ctx, nil, span(0, h)); return err },
		"Lanes":        func(ctx context.Context) error { _, err := s.Lanes(ctx, refs, span(0, h)); return err },
		"Totals":       func(ctx context.Context) error { _, err := s.Totals(ctx, span(0, h)); return err },
		"Events": func(ctx context.Context) error {
			_, err := s.Events(ctx, t0, 0, 1000, history.EventFilter{})
			return err
		},
	} {
		if err := f(t.Context()); err != nil {
			t.Fatal(name, err)
		}
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(500) // the statements alone ask less often
		if err := f(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s went on to its end: %v", name, err)
		}
	}
}
