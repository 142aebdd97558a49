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
		{"app", long[:59], "app|" + long[:59]},
		{"app", "...", "app|..."},
		{long, long[:22], long[:40] + "|" + long[:22]},
	} {
		if most := (pgcoord.Options{}).Caps(c2.identity).MaxData; len(c2.data) > most {
			t.Errorf("%q has room for %d bytes, want at least %d", c2.identity, most, len(c2.data))
		}

		name := pgcoord.ApplicationName(c2.identity, []byte(c2.data))
		if name != c2.want {
			t.Errorf("%q with %q is called %q, want %q", c2.identity, c2.data, name, c2.want)
		}
		if kept := one[string](t, c, "select set_config('application_name', $1, false)", name); kept != name {
			t.Errorf("the server makes %q of %q", kept, name)
		}
		if identity, data := pgcoord.ParseApplicationName(name); identity != pgcoord.Identity(c2.identity) || data != c2.data {
			t.Errorf("%q is taken apart into %q, %q", name, identity, data)
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
	f.Add("a|b\x00", []byte("|x"))
	f.Fuzz(func(t *testing.T, identity string, data []byte) {
		name := pgcoord.ApplicationName(identity, data)
		if len(name)-len(data) > 41 || strings.ContainsFunc(pgcoord.Identity(identity), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q with %q is called %q", identity, data, name)
		}
		if who, shown := pgcoord.ParseApplicationName(name); who != pgcoord.Identity(identity) || shown != string(data) {
			t.Fatalf("%q is taken apart into %q, %q", name, who, shown)
		}
	})
}
