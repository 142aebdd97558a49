package pgcoord_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
)

func TestAnnouncedDataMustFitTheNameOfItsSession(t *testing.T) {
	t.Parallel()
	key, other := pgcoord.BigintKey(4242), pgcoord.BigintKey(4343)
	data := []byte(strings.Repeat("long ", 100))
	name := pgcoord.ApplicationName("leader", data)
	announced := pgcoord.Announced{}
	a := pgcoord.Announcement{Key: key.String(), Event: pgcoord.Proclaimed, Data: data}
	announced.Note(7, a)
	if got, ok := announced.Data(key, 7, name); !ok || string(got) != string(data) {
		t.Errorf("%q, %v, want what was announced", got, ok)
	}
	for what, c := range map[string]struct {
		key  pgcoord.Key
		pid  uint32
		name string
	}{
		"another lock":       {other, 7, name},
		"another session":    {key, 8, name},
		"a name of new data": {key, 7, pgcoord.ApplicationName("leader", []byte("new"))},
	} {
		if got, ok := announced.Data(c.key, c.pid, c.name); ok {
			t.Errorf("%s has the data %q", what, got)
		}
	}
	a.Event = pgcoord.Released
	announced.Note(7, a)
	if _, ok := announced.Data(key, 7, name); ok {
		t.Error("a session that released the lock still has data")
	}
}

func TestOnlyTheChannelCarriesAnnouncements(t *testing.T) {
	t.Parallel()
	var j pgcoord.Joiner
	const payload = `{"database":"app","key":"4242","event":"acquired","data":"x"}`
	if a, ok := j.Read(&pgconn.Notification{PID: 7, Channel: pgcoord.Channel, Payload: payload}); !ok || a.Key != "4242" {
		t.Errorf("%+v, %v, want an announcement about 4242", a, ok)
	}
	for _, n := range []pgconn.Notification{{Channel: "other", Payload: payload}, {Channel: pgcoord.Channel, Payload: "hello"}} {
		if a, ok := j.Read(&n); ok {
			t.Errorf("%+v is read as %+v", n, a)
		}
	}
}
