package pgsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources"
)

// The attributes of an owner that matter for a forced release.
const (
	// NotEnded has the reason why the ownership or wait cannot be ended from here, and the remedy.
	NotEnded = "cannot be ended"
	// OwnerEvicted names who recently announced to have ended another ownership by force, and WaitEvicted who ended a
	// wait.
	OwnerEvicted = "another owner"
	WaitEvicted  = "a wait for it"
	// AlsoOwns names the unwatched locks that the session owns.
	AlsoOwns = "also owns"
)

// rights says whose sessions our role may end (pg_terminate_backend in the manual, "System Administration Functions").
type rights struct {
	all        bool     // our role is a superuser
	others     bool     // our role has pg_signal_backend
	superusers []string // whose sessions only a superuser may end
	ours       []string // roles whose rights our role has
}

const rightsSQL = `select (select rolsuper from pg_catalog.pg_roles where rolname = current_user), pg_catalog.pg_has_role('pg_signal_backend', 'usage'),
 array_to_json(array(select rolname::text from pg_catalog.pg_roles where rolsuper))::text,
 array_to_json(array(select rolname::text from pg_catalog.pg_roles where not (select rolsuper from pg_catalog.pg_roles where rolname = current_user)
  and pg_catalog.pg_has_role(oid, 'usage')))::text`

// rightsEvery is the pause between two reads of our rights while one is missing, because it may be granted at any time.
const rightsEvery = 10 * time.Second

// askRights reads the rights of our role if some are missing or unknown.
func (w *watcher) askRights(ctx context.Context) error {
	if was := w.table.rights; w.server.pooler != pgwire.None || was.all || was.others || time.Since(w.rights) < rightsEvery {
		return nil
	}
	w.rights = time.Now()
	row, err := w.One(ctx, rightsSQL)
	now := rights{all: row.Text(0) == "t", others: row.Text(1) == "t"}
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(row.Text(2)), &now.superusers), json.Unmarshal([]byte(row.Text(3)), &now.ours))
	}
	if err == nil && !reflect.DeepEqual(now, *w.table.rights) {
		table := *w.table
		table.rights, table.rightsLook = &now, table.looks+1
		w.table = &table
	}
	return pgwire.Because(ctx, "asking for the rights of our role", err)
}

// notEnded returns the attribute NotEnded of an owner or waiter, or nothing if it can be ended.
func (d *lookDiff) notEnded(r *lockRow, s *session) []sources.Attr {
	if why := d.whyNotEnded(r, s); why != "" {
		return []sources.Attr{{Key: NotEnded, Value: why}}
	}
	return nil
}

func (d *lookDiff) whyNotEnded(r *lockRow, s *session) string {
	server := d.after.server
	role := format.Clean(server.user, 63)
	if s == nil {
		x := d.s.prepared[r.virtual]
		return fmt.Sprintf("a prepared transaction has no session: %s, or a superuser, ends it in the database %s with ROLLBACK PREPARED %s",
			format.Clean(x.user, 63), format.Clean(x.database, 63), pgwire.Literal(x.gid))
	}
	owner := format.Clean(s.who.user, 63)
	switch may := d.after.rights; {
	case server.pooler != pgwire.None:
		return pgcoord.NotThroughPooler
	case !may.all && (owner == "" || slices.Contains(may.superusers, s.who.user)):
		return fmt.Sprintf("only a superuser may end a session of the role %s, and %s is none", owner, role)
	case !may.all && !may.others && !slices.Contains(may.ours, s.who.user) && s.who.start == 0:
		return fmt.Sprintf("the role %s neither may end sessions of %s nor sees when they began: grant pg_signal_backend and pg_monitor to it", role, owner)
	case !may.all && !may.others && !slices.Contains(may.ours, s.who.user):
		return fmt.Sprintf("the role %s may not end sessions of %s: grant pg_signal_backend to it", role, owner)
	case s.who.start == 0:
		return fmt.Sprintf("the role %s does not see when its session began, and could end another: grant pg_monitor to it", role)
	}
	return ""
}
