package rediscoord_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/uuid"

	"coordtop/coord/rediscoord"
)

func TestOwnerOfTellsWhoOwnsAKey(t *testing.T) {
	t.Parallel()
	const id = "07221940-03fa-41e1-98c6-ea5f0efb9a90"
	short := rediscoord.ShortID([]byte(id))
	for _, c := range []struct {
		name, raw       string
		opaque          bool
		data, id, label string
	}{
		{"a UUID alone", id, true, "", short, short},
		{"a UUID and data", id + " host-3:4711 eu", true, "host-3:4711 eu", short, "host-3:4711"},
		{"the same owner with other data", id + " x", true, "x", short, "x"},
		{"a UUID and nothing behind the space", id + " ", true, "", short, short},
		{"a UUID and a binary word", id + " \x1b[2J", true, "\x1b[2J", short, short},
		{"upper case", strings.ToUpper(id), true, "", rediscoord.ShortID([]byte(strings.ToUpper(id))),
			rediscoord.ShortID([]byte(strings.ToUpper(id)))},
		{"resque's host and pid", "web-1:4711", false, "", "web-1:4711", "web-1:4711"},
		{"ShedLock", "ADDED:2026-01-02T03:04:05Z@web-1:" + id, true, "", short, "web-1"},
		{"ShedLock later", "ADDED:2026-01-02T03:05:05.1Z@web-1:" + id, true, "", short, "web-1"},
		{"ShedLock in a container", "ADDED:2026-01-02T03:04:05Z@4f1c2d3e4f5a:" + id, true, "", short, short},
		{"BullMQ", id + ":0", true, "", short, short},
		{"a UUID and the number of a renewal", id + "#17", true, "", short, short},
		{"a host and when it renewed", "web-1:4711 ts=1763830000123", true, "", "web-1:4711", "web-1:4711"},
		{"a host and when it renewed, as text", "web-1 2026-01-02T03:04:05.6+01:00", true, "", "web-1", "web-1"},
		{"a host and how often it renewed", "web-1:4711 renewals=17", true, "", "web-1:4711", "web-1:4711"},
		{"a host and another number", "web-1:4711 account=17", true, "", rediscoord.ShortID([]byte("web-1:4711 account=17")), "web-1"},
		{"only a time", "at 1763830000", true, "", "#fdc7b8e4", "#fdc7b8e4"},
		{"a UUID and a host", id + "@host-4", true, "", rediscoord.ShortID([]byte(id + "@host-4")), "host-4"},
		{"redislock's metadata", "qpOQo6sePYlUYc5vCIyfegworker-7@host-a", true, "", "#84e9852d", "worker-7@host-a"},
		{"a login", "worker:hunter2@host-4", true, "", "#100c2865", "#100c2865"},
		{"a login beside a nonce", "Xb3kQ9zT1mN7pL2s;worker:billing@host-4", true, "",
			rediscoord.ShortID([]byte("Xb3kQ9zT1mN7pL2s;worker:billing@host-4")), rediscoord.ShortID([]byte("Xb3kQ9zT1mN7pL2s;worker:billing@host-4"))},
		{"data with a login", id + " redis://u:hunter2@host-4", true, "redis://u:hunter2@host-4", short, "redis://u:***@host-4"},
		{"a sentence", "my own lock", false, "", "my own lock", "my own lock"},
		{"accents", "büro-1", false, "", "büro-1", "büro-1"},
	} {
		v := rediscoord.OwnerOf([]byte(c.raw))
		if v.Opaque != c.opaque || string(v.Data) != c.data || v.ID != c.id || v.Label != c.label {
			t.Errorf("%s: OwnerOf(%q) = opaque %v, data %q, id %q, label %q",
				c.name, c.raw, v.Opaque, v.Data, v.ID, v.Label)
		}
	}
}

// TestWhatARenewalWritesIsNoOtherOwner has values of pairs of renewals, and of pairs of owners.
func TestWhatARenewalWritesIsNoOtherOwner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"id":"x7","ts":1}`, `{"id":"x7","ts":22}`, true},
		{`{"id":"x7","renewedAt":"2026-01-02T03:04:05Z"}`, `{"id":"x7","renewedAt":"2026-01-02T03:04:15Z"}`, true},
		{`{"id":"x7","last_beat": 1763830000.25}`, `{"id":"x7","last_beat": 1763830010.5}`, true},
		{`{"id":"x7","ts":1}`, `{"id":"x8","ts":1}`, false},
		{`{"host":"a","pid":17}`, `{"host":"a","pid":18}`, false},
		{`{"host":"a","accounts":17}`, `{"host":"a","accounts":18}`, false},
		{"web-1:4711", "web-1:4712", false},
		{"web-1:1763830000123456789", "web-1:1763830000123456790", false},
		{"worker-1234567890", "worker-1234567891", false},
		{"1763830000", "1763830001", false}, // nothing else is left
		{"9f86d081884c7d659f86d081884c7d65:1", "9f86d081884c7d659f86d081884c7d65:2", true},
		{"9f86d081884c7d659f86d081884c7d65:1", "9f86d081884c7d659f86d081884c7d66:1", false},
	} {
		a, b := rediscoord.OwnerOf([]byte(c.a)), rediscoord.OwnerOf([]byte(c.b))
		if (a.ID == b.ID) != c.same {
			t.Errorf("%q is %s, %q is %s", c.a, a.ID, c.b, b.ID)
		}
	}
}

func TestOwnerOfShowsOnlyNames(t *testing.T) {
	t.Parallel()
	for raw, hidden := range map[string]bool{
		"9f86d081884c7d65":                     true, // 16 hex
		"9f86d081884c7d65-":                    true,
		"9f86d081884c7d6":                      true, // 15 hex
		"3q2+7wEjRWeJq83vASNFZw==":             true, // redsync
		"abcdefghijklmnopqrst==":               true,
		"dGhpcyBpcyByYW5kb20":                  true,
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":           true, // ULID
		"qzjxvkwpyhbf":                         true, // letters only
		"abcdefghijklmnop-worker-b":            true,
		"worker-7Xb3kQ9zT1mN7":                 true,
		`s:16:"Xb3kQ9zT1mN7pL2s";`:             true, // Laravel with phpredis
		"app-79bcbd65fc-x2x4z":                 false,
		"ledger-primary-eu-west-1":             false,
		"DESKTOP-PRODUCTION-77":                false,
		"worker0000000000017":                  true, // the number is too long
		"web-1":                                false,
		"07221940-03fa-41e1-98c6-ea5f0efb9a9":  true,
		"07221940x03fa-41e1-98c6-ea5f0efb9a90": true,
		"":                                     true, // nothing a person could read
		"\x00\x01":                             true,
		"a\x1b[31mb":                           true,
		"\xff\xfe":                             true,
		strings.Repeat("host ", 60):            true, // too long to be a name
	} {
		v := rediscoord.OwnerOf([]byte(raw))
		if v.Opaque != hidden {
			t.Errorf("OwnerOf(%q).Opaque is %v, want %v", raw, v.Opaque, hidden)
		}
		if v.Opaque && v.ID != rediscoord.ShortID([]byte(raw)) {
			t.Errorf("OwnerOf(%q).ID is %q, want the short id", raw, v.ID)
		}
	}
}

func TestShortIDAndGuardAreSha1(t *testing.T) {
	t.Parallel()
	if got := rediscoord.ShortID([]byte("abc")); got != "#a9993e36" {
		t.Errorf("ShortID(abc) is %q", got)
	}
	guards := map[string]bool{
		rediscoord.Guard("k", []byte("abc")): true, rediscoord.Guard("l", []byte("abc")): true, rediscoord.MemberGuard("k", "abc"): true,
		rediscoord.FieldGuard("k", "a=b", "c"): true, rediscoord.FieldGuard("k", "a", "b=c"): true, rediscoord.Guard("k", []byte("5:value")): true,
	}
	if sum := sha1.Sum([]byte("1:k5:value3:abc")); len(guards) != 6 || !guards[hex.EncodeToString(sum[:])] {
		t.Errorf("guards that are equal, or none as documented: %v", guards)
	}
}

func TestNonceIsNeverFormatted(t *testing.T) {
	t.Parallel()
	id := uuid.NewString()
	v := rediscoord.OwnerOf([]byte(id + " data"))
	out := fmt.Sprintf("%v %+v %#v", v, v, v)
	if strings.Contains(out, id) {
		t.Errorf("the nonce shows in %s", out)
	}
	if !strings.Contains(out, v.ID) {
		t.Errorf("the short id is missing in %s", out)
	}
}

func FuzzOwnerOf(f *testing.F) {
	for _, s := range []string{"", " ", "a b", "07221940-03fa-41e1-98c6-ea5f0efb9a90 {\"x\":1}", "\x1b]0;x\a", "\xff "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := rediscoord.OwnerOf(raw)
		for _, text := range []string{v.ID, v.Label} {
			if text == "" || len(text) > 256 || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("OwnerOf(%q) shows %q", raw, text)
			}
		}
		if !bytes.HasSuffix(raw, v.Data) {
			t.Errorf("OwnerOf(%q) found the data %q", raw, v.Data)
		}
		if len(raw) > 0 && v.Opaque && strings.Contains(v.ID, string(raw)) {
			t.Errorf("OwnerOf(%q) shows its nonce: %q", raw, v.ID)
		}
	})
}
