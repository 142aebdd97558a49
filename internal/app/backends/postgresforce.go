package backends

import (
	"fmt"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/pgsource"
)

// postgresForce is how an ownership or a wait of another session is ended: a lock belongs to its
// session, and nobody else can release it.
var postgresForce = operate.Force{
	Refuses:       func(_ *sources.Row, w *sources.Owner) string { return attr(w.Attrs, pgsource.NotEnded) },
	RefusesWaiter: func(w *sources.Waiter) string { return attr(w.Attrs, pgsource.NotEnded) },
	Effect:        postgresEffect, WholeSession: true,
	Cancel: "Its statement fails (57014) and it leaves the queue; it keeps its session and what that owns, and a transaction that is open in it fails.",
}

func postgresEffect(_ *sources.Row, w *sources.Owner) []string {
	lines := []string{"Its whole session ends: its program gets an error (57P01) at once if it reads from the connection, else with its next statement. " +
		"It may connect again and take the lock again.",
		"The check and the signal are not one step: if it gives the lock up in that instant, its session ends all the same."}
	for _, who := range []string{pgsource.OwnerEvicted, pgsource.WaitEvicted} {
		if how := attr(w.Attrs, who); how != "" {
			lines = append(lines, "Just now "+who+" was "+how+".")
		}
	}
	if began, err := time.Parse(time.RFC3339, attr(w.Attrs, "transaction start")); err == nil {
		lines = append(lines, fmt.Sprintf("Its transaction, open for %v (%s), is rolled back.", time.Since(began).Round(time.Second), attr(w.Attrs, "state")))
	}
	if also := attr(w.Attrs, pgsource.AlsoOwns); also != "" {
		lines = append(lines, "Its session owns locks that are not watched, which fall too: "+also+".")
	}
	return lines
}

// postgresCall is what a request about another session sends; "": it is no such request.
func postgresCall(r action.Request) string {
	g, err := pgcoord.ParseGuard(r.Target.Guard)
	if err != nil {
		return ""
	}
	at := time.UnixMicro(g.Start).UTC().Format(time.DateTime)
	switch r.Verb {
	case action.Release:
		return fmt.Sprintf("select pg_terminate_backend(%d), if that process began at %s and still owns %v", g.PID, at, g.Key)
	case action.CancelWait:
		return fmt.Sprintf("select pg_cancel_backend(%d), if that process began at %s and still waits for %v", g.PID, at, g.Key)
	}
	return ""
}

// attr is an attribute of an owner or waiter; "": it has none of that name.
func attr(attrs []sources.Attr, key string) string {
	for _, a := range attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}
