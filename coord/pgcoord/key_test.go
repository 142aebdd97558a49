package pgcoord_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"coordtop/coord/pgcoord"
)

func TestKeysAreWhatTheServerShows(t *testing.T) {
	t.Parallel()
	c := sql(t, shared(t))
	for text, lock := range map[string]string{
		"4242":                 "select pg_advisory_lock(4242)",
		"-1":                   "select pg_advisory_lock(-1)",
		"-9223372036854775808": "select pg_advisory_lock(-9223372036854775808)",
		"9223372036854775807":  "select pg_advisory_lock(9223372036854775807)",
		"17:-4":                "select pg_advisory_lock(17, -4)",
		"-2147483648:0":        "select pg_advisory_lock(-2147483648, 0)",
		"0:4242":               "select pg_advisory_lock(0, 4242)", // not 4242
	} {
		if _, err := c.Exec(context.Background(), lock); err != nil {
			t.Fatal(err)
		}
		var k pgcoord.Key
		var sub int16
		row := c.QueryRow(context.Background(), "select classid, objid, objsubid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()")
		noError(t, row.Scan(&k.Class, &k.Object, &sub))
		k.Sub = uint16(sub)
		if got := k.String(); got != text {
			t.Errorf("%s is shown as %q, want %q", lock, got, text)
		}
		if got, named, err := pgcoord.ParseKey(text); err != nil || named || got != k {
			t.Errorf("%q is read as %+v (named %v, %v), want %+v", text, got, named, err, k)
		}
		if _, err := c.Exec(context.Background(), "select pg_advisory_unlock_all()"); err != nil {
			t.Fatal(err)
		}
	}
	if got := (pgcoord.Key{Class: 17, Object: math.MaxUint32, Sub: 9}).String(); got != "17:4294967295/9" {
		t.Errorf("an extension's key is written %q", got)
	}
}

func TestKeysAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, k := range []pgcoord.Key{pgcoord.BigintKey(-1), pgcoord.PairKey(17, -4), {Class: 1 << 31, Object: 7, Sub: 9}, {Sub: 29749}} {
		if got, named, err := pgcoord.ParseKey(k.String()); got != k || named || err != nil {
			t.Errorf("%v: %v, %v, %v", k, got, named, err)
		}
	}
	if _, named, err := pgcoord.ParseKey("ledger/compactor"); !named || err != nil {
		t.Errorf("a name: %v, %v", named, err)
	}
}

func TestWhatIsNoKeyIsTold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "9223372036854775808", "-9223372036854775809", "2147483648:0", "0:-2147483649", "a\x00b", "1:2/65536", "4294967296:2/4"} {
		if k, named, err := pgcoord.ParseKey(text); !errors.Is(err, pgcoord.ErrKey) || named {
			t.Errorf("%q is read as %v (named %v, %v), want ErrKey", text, k, named, err)
		}
	}
	for _, text := range []string{"ledger/compactor", "17:", ":4", "1:2:3", "-", "0x10", "1.5", " 42", "+1", "17:-4/9"} {
		if k, named, err := pgcoord.ParseKey(text); err != nil || !named {
			t.Errorf("%q is read as %v (named %v, %v), want a name", text, k, named, err)
		}
	}
}

func TestSchemesMakeTheKeysThatOthersMake(t *testing.T) {
	t.Parallel()
	c := sql(t, shared(t))
	for _, want := range []struct {
		scheme, name, key string
	}{
		{"crc32", "goose", "-197883670"}, // 4097083626, which Goose uses unsigned, as an int4
		{"hashtext", "electric_slot_default", "-1768572819"},
		{"hashtext", "pg_partman run_maintenance", "-988976779"},
		{"sha256le", "", "1449310910991872227"}, // of the empty text: e3b0c44298fc1c14...
	} {
		s, err := pgcoord.ParseScheme(want.scheme)
		noError(t, err)
		k, query := s.Key(want.name)
		if query != "" {
			k = pgcoord.BigintKey(one[int64](t, c, query, want.name))
		}
		if k.String() != want.key {
			t.Errorf("%s of %q is %v, want %s", want.scheme, want.name, k, want.key)
		}
	}
	s, err := pgcoord.ParseScheme("")
	if _, query := s.Key("x"); err != nil || one[int64](t, c, query, "ledger") != one[int64](t, c, "select hashtextextended('ledger', 0)") {
		t.Errorf("the scheme by default is %q (%v), want hashtextextended", s, err)
	}
	if _, err := pgcoord.ParseScheme("md5"); err == nil {
		t.Error("an unknown scheme was taken")
	}
}

func FuzzParseKey(f *testing.F) {
	for _, text := range []string{"4242", "17:-4", "a", "", "9223372036854775808", "-0", "007"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, named, err := pgcoord.ParseKey(text)
		if err != nil || named {
			return
		}
		if again, named, err := pgcoord.ParseKey(k.String()); again != k || named || err != nil {
			t.Errorf("%q is %v, which is read as %v (named %v, %v)", text, k, again, named, err)
		}
	})
}
