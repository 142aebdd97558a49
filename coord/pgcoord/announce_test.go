package pgcoord_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
)

func TestAnnouncementIsReadableJSON(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]pgcoord.Announcement{
		`{"database":"app","key":"17:-4","event":"acquired"}`:                              {Database: "app", Key: "17:-4", Event: pgcoord.Acquired},
		`{"database":"5","key":"7","event":"evicted","pid":9,"waiting":true,"data":"ana"}`: {Database: "5", Key: "7", Event: pgcoord.Evicted, By: "ana", PID: 9, Waiting: true},
	} {
		if got, err := json.Marshal(a); err != nil || string(got) != want {
			t.Errorf("written as %s (%v), want %s", got, err, want)
		}
		if got, ok := pgcoord.ReadAnnouncement(&pgconn.Notification{Channel: pgcoord.Channel, Payload: want}); !ok || got != a {
			t.Errorf("%s is read as %+v, %v", want, got, ok)
		}
	}
}

func TestWhatIsNoAnnouncementIsPassedOver(t *testing.T) {
	t.Parallel()
	const whole = `{"key":"4242","event":"acquired","more":true,"data_b64":"eA=="}` // as other versions add to it
	for _, n := range []pgconn.Notification{
		{Channel: "other", Payload: whole},
		{Channel: pgcoord.Channel, Payload: "no JSON"},
		{Channel: pgcoord.Channel, Payload: `{"event":"acquired"}`},
		{Channel: pgcoord.Channel, Payload: `{"key":"4242"}`},
		{Channel: pgcoord.Channel, Payload: `{"key":4242,"event":"acquired"}`},
		{Channel: pgcoord.Channel},
	} {
		if a, ok := pgcoord.ReadAnnouncement(&n); ok {
			t.Errorf("%+v is read as %+v", n, a)
		}
	}
	if a, ok := pgcoord.ReadAnnouncement(&pgconn.Notification{Channel: pgcoord.Channel, Payload: whole}); !ok || a.Key != "4242" || a.Event != pgcoord.Acquired {
		t.Errorf("%+v, %v, want an announcement about 4242", a, ok)
	}
}

func FuzzReadAnnouncement(f *testing.F) {
	for _, p := range []string{`{"key":"1","event":"evicted","data":"x"}`, `{"key":"1","event":"told","data":1}`, `{`, `{}`, `null`, `[]`} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		a, ok := pgcoord.ReadAnnouncement(&pgconn.Notification{Channel: pgcoord.Channel, Payload: payload})
		if ok && (a.Key == "" || a.Event == "") {
			t.Fatalf("%q is read as %+v", payload, a)
		}
	})
}
