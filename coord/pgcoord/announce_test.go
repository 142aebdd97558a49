package pgcoord_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"coordtop/coord/pgcoord"
)

func TestAnnouncementIsReadableJSON(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]pgcoord.Announcement{
		`{"database":"app","key":"17:-4","event":"acquired","data":"it's <1>"}`:            {Database: "app", Key: "17:-4", Event: pgcoord.Acquired, Data: []byte("it's <1>")},
		`{"database":"app","key":"4242","event":"released"}`:                               {Database: "app", Key: "4242", Event: pgcoord.Released},
		`{"database":"5","key":"7","event":"evicted","pid":9,"waiting":true,"data":"ana"}`: {Database: "5", Key: "7", Event: pgcoord.Evicted, Data: []byte("ana"), PID: 9, Waiting: true},
		`{"database":"app","key":"4242","event":"told","data_b64":"/w=="}`:                 {Database: "app", Key: "4242", Event: pgcoord.Told, Data: []byte{0xff}},
	} {
		if got, err := a.Payloads(); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("written as %q (%v), want %q", got, err, want)
		}
	}
}

func TestAnnouncementOfAnyDataFitsAndIsPutTogether(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 7900)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for _, data := range [][]byte{
		bytes.Repeat([]byte("x"), 7900), make([]byte, 7900), noise, []byte(strings.Repeat("é\n", 2633)), []byte("short"),
	} {
		a := pgcoord.Announcement{Database: strings.Repeat("\"", 63), Key: "-2147483648:-2147483648", Event: pgcoord.Proclaimed, Data: data}
		payloads, err := a.Payloads()
		if err != nil {
			t.Fatal(err)
		}
		var j pgcoord.Joiner
		for i, p := range payloads {
			if len(p) > 7999 {
				t.Errorf("a payload of %d bytes", len(p))
			}
			got, ok, err := j.Join(7, p)
			if err != nil || ok != (i+1 == len(payloads)) {
				t.Fatalf("part %d of %d: ok %v, %v", i+1, len(payloads), ok, err)
			}
			if ok && !reflect.DeepEqual(got, a) {
				t.Errorf("%d bytes came back as %d, %v", len(data), len(got.Data), got.Key)
			}
		}
	}
}

func TestPartsOfDifferentAnnouncementsAreNotMixed(t *testing.T) {
	t.Parallel()
	a := pgcoord.Announcement{Database: "d", Key: "1", Event: pgcoord.Told, Data: make([]byte, 7900)}
	parts, err := a.Payloads()
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	other := strings.Replace(parts[1], `"key":"1"`, `"key":"2"`, 1)
	for what, second := range map[string]struct {
		pid     uint32
		payload string
	}{"another session": {8, parts[1]}, "another key": {7, other}} {
		var j pgcoord.Joiner
		if _, ok, err := j.Join(7, parts[0]); ok || err != nil {
			t.Fatalf("the first part: ok %v, %v", ok, err)
		}
		if got, ok, err := j.Join(second.pid, second.payload); !ok || err != nil || len(got.Data) >= 7900 {
			t.Errorf("a part of %s: %d bytes, ok %v, %v, want it alone", what, len(got.Data), ok, err)
		}
	}
	var j pgcoord.Joiner
	var err2 error
	for range 20 {
		if _, _, err := j.Join(7, parts[0]); err != nil {
			err2 = err
		}
	}
	if err2 == nil {
		t.Error("parts without an end are kept without an end")
	}
}

func FuzzJoiner(f *testing.F) {
	for _, p := range []string{`{"key":"1","event":"told","data":"x"}`, `{"key":"1","event":"told","data_b64":"!"}`, `{`, `{}`, `null`, `[]`} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		var j pgcoord.Joiner
		a, ok, err := j.Join(1, payload)
		if ok && (err != nil || a.Key == "" || a.Event == "") {
			t.Fatalf("%q is read as %+v, %v", payload, a, err)
		}
	})
}
