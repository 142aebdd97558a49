package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/sources/tape"
)

// applicationID is "ctop" in ASCII.
const applicationID = 0x63746f70

// The version of the schema, and the lowest version that can read our files.
const (
	version = 6
	readers = 6
)

// everyBefore computes the pause between two polls from a term of a version before 4: a start or an end that was seen
// (2) lies between two polls.
const everyBefore = "max(start_within * (start_how = 2), until_within * (until_how = 2))"

// schema[n] brings a file from version n to n+1.
var schema = [version]string{`
create table run(id integer primary key, host text not null, pid integer not null, version text not null,
	began integer not null, last integer not null, ended integer);
create table kept(id integer primary key check(id = 0), since integer not null);
insert into kept values(0, 0);
create table lane(id integer primary key, source text not null, space text not null, name text not null,
	kind integer not null, since integer not null, gone integer, unique(source, space, name));
create table scope(id integer primary key, source text not null, name text not null, unique(source, name));
create table placed(lane integer not null, since integer not null, scope integer not null, primary key(lane, since)) without rowid;
create table term(lane integer not null, start integer not null, owner text not null, label text not null, fence integer not null,
	start_how integer not null, start_within integer not null, until integer, until_how integer not null, until_within integer not null,
	cause integer not null, how integer not null, program integer not null, hue integer not null, run integer not null,
	primary key(lane, start, owner)) without rowid;
create index term_start on term(start);
create index term_running on term(lane) where until is null;
create table level(lane integer not null, at integer not null, taken integer not null, high integer not null, gone integer not null,
	primary key(lane, at)) without rowid;
create index level_at on level(at);
create table dark(scope integer not null, lane integer not null, start integer not null, until integer, run integer not null,
	primary key(scope, lane, start)) without rowid;
create table lost(id integer primary key, run integer not null, start integer not null, until integer not null);
create table event(run integer not null, seq integer not null, at integer not null, lane integer not null, body blob not null,
	primary key(run, seq)) without rowid;
create index event_at on event(at);
create index event_lane on event(lane, at);
create table gop(id integer primary key, run integer not null, seq integer not null, start integer not null, until integer not null,
	thin integer not null, body blob not null);
create index gop_start on gop(start);
create index gop_run on gop(run, id);
create table chunk(id integer primary key, gop integer not null, first integer not null, size integer not null, start integer not null, until integer not null, body blob not null);
create index chunk_gop on chunk(gop, first);
create table tail(id integer primary key, gop integer not null, first integer not null, start integer not null, until integer not null, body blob not null);
create index tail_gop on tail(gop, first);
create table sum(n integer primary key, body blob not null);
`, `
alter table event add column kind integer not null default -1;
create index event_kind on event(kind, at);
`, `
alter table run add column title text not null default '';
alter table run add column color text not null default '';
`, `
alter table term add column sure integer not null default 0;
alter table term add column every integer not null default 0;
update term set every = ` + everyBefore + ` where start_within > 0 or until_within > 0;
`, `
delete from sum;
create table part(n integer primary key, body blob not null);
`, `
create table block(id integer primary key, start integer not null, until integer not null, first_event integer not null, last_event integer not null,
	kinds integer not null, terms integer not null, first_lane integer not null, last_lane integer not null, lanes blob not null);
create table body(id integer primary key, terms blob not null, events blob not null);
create table running(n integer primary key, body blob not null);
create table recent(id integer primary key, body blob not null);
`}

// fillKinds sets the column kind of each event, which only the body had before.
func fillKinds(ctx context.Context, db *sql.DB) error {
	prepared := statements{in: db, prepared: map[string]*sql.Stmt{}}
	all := tables.Statements{DB: prepared}
	for {
		var found [][3]int64
		var run, seq, lane int64
		var body []byte
		all.Each(ctx, "select run, seq, lane, body from event where kind < 0 limit 1000", nil, []any{&run, &seq, &lane, &body}, func() {
			e := eventOf(lane)
			_ = decodeEvent(&e, body) // if it is damaged, reading it later returns the error
			found = append(found, [3]int64{int64(e.Kind), run, seq})
		})
		if len(found) == 0 || all.Err != nil {
			return errors.Join(all.Err, prepared.close())
		}
		for _, e := range found {
			all.Change(ctx, "update event set kind = ? where run = ? and seq = ?", e[0], e[1], e[2])
		}
	}
}

// moveRunning moves terms without an end to the table running.
func moveRunning(ctx context.Context, db *sql.DB) error {
	prepared := statements{in: db, prepared: map[string]*sql.Stmt{}}
	q := tables.Query{Statements: tables.Statements{DB: prepared}}
	var running []tape.TermFact
	rows{version}.terms(ctx, &q, runningRows, nil, func(f *tape.TermFact) { running = append(running, *f) })
	q.Running(ctx, running)
	q.Change(ctx, "delete from term where until is null")
	return errors.Join(q.Err, prepared.close())
}

// versionOf returns the version of a file and the lowest version that can read it. A new file has the version 0. An
// error wraps history.ErrForeign if the file is not a recording, see checkObjects.
func versionOf(ctx context.Context, db *sql.DB) (has, reads int, err error) {
	var id, user, objects int
	err = db.QueryRowContext(ctx, "select application_id, user_version, (select count(*) from sqlite_schema) from pragma_application_id, pragma_user_version").Scan(&id, &user, &objects)
	if err == nil && id != applicationID && (id != 0 || user != 0 || objects != 0) {
		err = history.ErrForeign
	}
	if err == nil {
		err = checkObjects(ctx, db, user%1000)
	}
	return user % 1000, user / 1000, err
}

// checkObjects returns history.ErrForeign if the tables and indexes of a file are not those of its version. A view or a
// virtual table in place of a table would run code of somebody else, and without an index a query would be far too
// slow. A file of a newer version may have more tables and indexes.
func checkObjects(ctx context.Context, db *sql.DB, has int) error {
	found, err := objects(ctx, db)
	if err != nil || has == 0 && len(found) == 0 {
		return err
	}
	if has > version {
		if slices.ContainsFunc(found, func(o string) bool {
			return !strings.HasPrefix(o, "create table") && !strings.HasPrefix(o, "create index")
		}) {
			return history.ErrForeign
		}
		return nil
	}
	if has <= 0 || shapeOf(found) != shapes[has-1] {
		return history.ErrForeign
	}
	return nil
}

// shapes[n] is the shapeOf of a file of version n+1. Building the schema for the comparison instead would cost each
// start some milliseconds.
var shapes = [version]string{
	"60b12f16008ddead2bdaceb11a0de205577791013602c69a319e45bb0f55907a",
	"8ee1bdc2a7d1818c4cc2fead2bab912042ba14ef6299ab1072482af271901fa3",
	"ec316c9685baffd2a6b8ae88e07e4c40fb7a5dd6b32a40c541620922fdeab8da",
	"30ef00fed8d4d063ed02a86c9593a56aa32e6cd35d6ce70e1af7365716f639ca",
	"9796936ad2cb35257244e49c59289a5b0cefc24096c2d69d957029cadc3bc48f",
	"217d910896ab4f4656842298292e70277864b243b0b15ac1602bdf9631769340",
}

// shapeOf returns the SHA-256 of what objects returns.
func shapeOf(objects []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(objects, "\n"))))
}

// objects returns the statements that made the objects in a file, except SQLite's own indexes and statistics. It does
// not exclude by name alone, because somebody could give a trigger a name of SQLite's own.
func objects(ctx context.Context, db *sql.DB) (list []string, err error) {
	rows, err := db.QueryContext(ctx, "select sql from sqlite_schema where sql is not null and sql not like 'create table sqlite_stat%' order by name")
	if err != nil {
		return nil, err
	}
	var text string
	err = eachRow(rows, []any{&text}, func() { list = append(list, strings.ToLower(text)) })
	return list, err
}

// migrate brings the file to our version. After an error the file is unchanged.
func migrate(ctx context.Context, db *sql.DB, has int) (err error) {
	if has == version {
		return nil
	}
	exec := func(text string) {
		if err == nil {
			_, err = db.ExecContext(ctx, text)
		}
	}
	exec("begin immediate")
	for _, step := range schema[has:] {
		exec(step)
	}
	if err == nil && has == 1 {
		err = fillKinds(ctx, db)
	}
	if err == nil && has > 0 {
		err = moveRunning(ctx, db)
	}
	exec(fmt.Sprintf("pragma application_id = %d; pragma user_version = %d; commit", applicationID, readers*1000+version))
	if err != nil {
		_, undone := db.ExecContext(ctx, "rollback")
		return errors.Join(err, undone)
	}
	return nil
}
