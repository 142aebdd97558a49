package pgcoord

import (
	"fmt"
	"strings"

	"coordtop/coord"
)

// Wire is what a call sends, in a line. It is "" for what Postgres does not have.
func (o Options) Wire(call coord.Call, c coord.Claim) string {
	key, function, shared := o.Scheme.sql(c.Name), "pg_advisory_lock", ""
	if c.Wait == 0 {
		function = "pg_try_advisory_lock"
	}
	if c.Mode == coord.Shared {
		shared = "_shared"
	}
	switch call {
	case coord.CallAcquire:
		return fmt.Sprintf("select %s%s(%s), on a connection of its own", function, shared, key)
	case coord.CallPublish:
		return fmt.Sprintf("set application_name with the data %s, and notify %s", coord.Quoted(c.Data), Channel)
	case coord.CallRelease:
		return fmt.Sprintf("select pg_advisory_unlock%s(%s)", shared, key)
	}
	return ""
}

// sql is the key of a lock as it stands in a statement.
func (s Scheme) sql(name string) string {
	k, named, err := ParseKey(name)
	quoted := "'" + strings.ReplaceAll(name, "'", "''") + "'"
	switch {
	case named && (s == "" || s == Hashtextextended):
		return "hashtextextended(" + quoted + ", 0)"
	case named:
		return string(s) + "(" + quoted + ")"
	}
	if a, b, pair := k.Pair(); pair && err == nil {
		return fmt.Sprintf("%d, %d", a, b)
	}
	return name
}
