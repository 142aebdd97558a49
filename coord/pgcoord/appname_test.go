package pgcoord_test

import (
	"strings"
	"testing"
	"time"

	"coordtop/coord/pgcoord"
)

func TestApplicationNameCarriesAsMuchDataAsFits(t *testing.T) {
	t.Parallel()
	c := sql(t, shared(t))
	long := strings.Repeat("x", 100)
	for _, c2 := range []struct {
		identity, data, want string
	}{
		{"app@host:12", "", "app@host:12"},
		{"app@host:12", "shard 4 | eu", "app@host:12|shard 4 | eu"},
		{"", "d", "coordtop|d"},
		{"a|b\tc", "d", "a_b_c|d"},
		{long, "", long[:40]},
		{"app", long, "app|" + long[:56] + "..."},
		{"app", long[:59], "app|" + long[:59]},
		{"app", "two\nlines", "app|two..."},
		{"app", "für alle", "app|f..."},
		{"app", "\x00", "app|..."},
	} {
		name := pgcoord.ApplicationName(c2.identity, []byte(c2.data))
		if name != c2.want {
			t.Errorf("%q with %q is called %q, want %q", c2.identity, c2.data, name, c2.want)
		}
		if kept := one[string](t, c, "select set_config('application_name', $1, false)", name); kept != name {
			t.Errorf("the server makes %q of %q", kept, name)
		}
		identity, data, cut := pgcoord.ParseApplicationName(name)
		if identity != pgcoord.Identity(c2.identity) || !strings.HasPrefix(c2.data, data) || cut != (data != c2.data) {
			t.Errorf("%q is taken apart into %q, %q (cut %v)", name, identity, data, cut)
		}
	}
}

func TestOwnerIDIsThePidAndTheStart(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 6, 0, 1, 20_300_000, time.FixedZone("", 3600))
	if got := pgcoord.OwnerID(4711, start); got != "4711@2026-11-21T05:00:01.020300Z" {
		t.Errorf("OwnerID is %q", got)
	}
	if got := pgcoord.OwnerID(4711, time.Time{}); got != "4711" {
		t.Errorf("OwnerID without a start is %q", got)
	}
}

func FuzzApplicationName(f *testing.F) {
	f.Add("app@host", []byte("data"))
	f.Add("", []byte("\x00..."))
	f.Fuzz(func(t *testing.T, identity string, data []byte) {
		name := pgcoord.ApplicationName(identity, data)
		if len(name) > 63 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q with %q is called %q", identity, data, name)
		}
		who, shown, cut := pgcoord.ParseApplicationName(name)
		if who != pgcoord.Identity(identity) || !strings.HasPrefix(string(data), shown) || !cut && shown != string(data) {
			t.Fatalf("%q is taken apart into %q, %q (cut %v)", name, who, shown, cut)
		}
	})
}
