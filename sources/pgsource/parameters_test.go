package pgsource

import (
	"strings"
	"testing"

	"coordtop/sources"
)

func TestParametersThatMeanNothingHereAreIgnoredWithAWord(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	for _, c := range []struct{ query, want string }{
		{"&schema=public", "schema= is ignored"},
		{"&keepalives=1", "keepalives= is ignored"},
		{"&keepalives_idle=30&keepalives_interval=5&keepalives_count=3", "keepalives_idle= is ignored"},
		{"&tcp_user_timeout=1000", "tcp_user_timeout= is ignored"},
		{"&gssencmode=disable", "gssencmode= is ignored"},
		{"&connection_limit=5&pgbouncer=true", "ignored: connection_limit, pgbouncer"},
		{"&pool_max_conns=10", "ignored: pool_max_conns"},
		{"&work_mem=much", "ignored: work_mem"},
	} {
		w := &rig{t: t, server: r.server, root: r.root}
		w.watch(Options{URL: r.server.URL() + c.query}).synced()
		about := w.About("", "anything", func(sources.About) bool { return true })
		if text := strings.Join(about.Warnings, "\n"); !strings.Contains(text, c.want) {
			t.Errorf("%s: it warns %q, not of %q", c.query, text, c.want)
		}
	}
	w := &rig{t: t, server: r.server, root: r.root}
	w.watch(Options{URL: r.server.URL() + "&work_mem=4MB&application_name=mine"}).synced()
	if about := w.About("", "anything", func(sources.About) bool { return true }); len(about.Warnings) != 0 {
		t.Errorf("of a setting of the server's it warns %q", about.Warnings)
	}
}
