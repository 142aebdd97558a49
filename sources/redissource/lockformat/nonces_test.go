package lockformat

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// nonces draws values as libraries write them.
type nonces struct {
	*rand.Rand
	words []string
}

func (n *nonces) bytes(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(n.Uint32())
	}
	return b
}

func (n *nonces) of(set string, size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = set[n.IntN(len(set))]
	}
	return string(b)
}

func (n *nonces) uuid() string {
	id, err := uuid.FromBytes(n.bytes(16))
	if err != nil {
		panic(err)
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

func (n *nonces) size() int { return 12 + n.IntN(53) }

const (
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	kubeSet = "bcdfghjklmnpqrstvwxz2456789"
)

// grouped draws a nonce in groups with dashes between them: of four, of the lengths of other
// licence keys, or of any length.
func (n *nonces) grouped() string {
	set := n.pick([]string{lower, upper, lower + digits, upper + digits, digits, digits + "abcdef", kubeSet, lower + upper + digits})
	shapes := [][]int{{4, 4, 4}, {4, 4, 4, 4}, {3, 3, 3, 3}, {5, 5, 5}, {6, 6}, {3, 4, 3}, {5, 5, 5, 5, 5}, {8, 4}, {4, 8}, {10, 5}, {9, 5}, {2, 2, 2, 2, 2, 2}}
	shape := shapes[n.IntN(len(shapes))]
	if n.IntN(2) == 0 {
		shape = nil
		for size := n.size() + 1; size > 0; {
			group := 1 + n.IntN(8)
			shape = append(shape, group)
			size -= group + 1
		}
	}
	groups := make([]string, len(shape))
	for i, size := range shape {
		groups[i] = n.of(set, size)
	}
	return strings.Join(groups, n.pick([]string{"-", "-", "-", "_", ".", ":", "/", " "}))
}

func (n *nonces) pick(list []string) string { return list[n.IntN(len(list))] }

// plain draws a nonce that has no form of its own.
func (n *nonces) plain() string {
	switch n.IntN(18) {
	case 0: // LeaderService, Spring, redlock-rb, activejob-uniqueness
		return n.uuid()
	case 1: // redsync
		return base64.StdEncoding.EncodeToString(n.bytes(16))
	case 2: // bsm/redislock
		return base64.RawURLEncoding.EncodeToString(n.bytes(16))
	case 3: // node-redlock, redis-py, redbeat, rq
		return hex.EncodeToString(n.bytes(16))
	case 4: // Laravel
		return n.of(lower+upper+digits, 16)
	case 5: // crypto/rand.Text
		return n.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 26)
	case 6:
		return base32.StdEncoding.EncodeToString(n.bytes(10))
	case 7: // ULID
		return n.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26)
	case 8: // a JWT
		return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString(n.bytes(20)) + "." + base64.RawURLEncoding.EncodeToString(n.bytes(8))
	case 9:
		return n.of(lower, n.size())
	case 10:
		return n.of(n.pick([]string{upper, lower + upper}), n.size())
	case 11:
		return n.of(n.pick([]string{lower + digits, upper + digits, lower + upper + digits}), n.size())
	case 12: // sidekiq-unique-jobs writes a job's id of 24
		return n.of(n.pick([]string{"0123456789abcdef", "0123456789ABCDEF"}), n.size())
	case 13:
		return n.of(digits, n.size())
	case 14:
		return n.of(lower+upper+digits+"-_", n.size())
	case 15:
		return n.of(lower+upper+digits+"+/", n.size())
	case 16:
		return n.of(kubeSet, n.size())
	}
	return n.grouped()
}

// value draws a value and the nonce in it.
func (n *nonces) value() (value, nonce string) {
	nonce = n.plain()
	text := func() string { return n.pick(n.words) }
	sign := func() string {
		return n.pick([]string{"", "", "-", "_", ".", ":", "@", "/", " ", ",", ";", "|", "#", "=", "--"})
	}
	switch n.IntN(16) {
	case 0, 1, 2, 3:
		return nonce, nonce
	case 4, 5:
		return text() + sign() + nonce, nonce
	case 6, 7:
		return nonce + sign() + text(), nonce
	case 8, 9:
		return text() + sign() + nonce + sign() + text(), nonce
	case 10: // BullMQ, Redisson's RLock as a string
		return nonce + ":" + n.of(digits, 1+n.IntN(3)), nonce
	case 11: // ShedLock
		return "ADDED:2026-01-02T03:04:05.678Z@" + n.pick([]string{"web-1", n.of("0123456789abcdef", 12)}) + ":" + nonce, nonce
	case 12: // Sidekiq
		nonce = hex.EncodeToString(n.bytes(6))
		return "web-1:4711:" + nonce, nonce
	case 13: // PHP
		return fmt.Sprintf(`s:%d:"%s";`, len(nonce), nonce), nonce
	case 14:
		return fmt.Sprintf(`{"%s":%q,"at":17}`, n.pick([]string{"token", "owner", "name", "host"}), nonce), nonce
	}
	nonce = n.uuid() + ":" + n.of(digits, 1+n.IntN(15)) // a field of Redisson's hash
	return nonce, nonce
}

// leak returns what of a nonce stands in a text: eight characters in a row; "": nothing.
func leak(text, nonce string) string {
	for i := 0; i+8 <= len(text); i++ {
		if strings.Contains(nonce, text[i:i+8]) {
			return text[i : i+8]
		}
	}
	return ""
}

// printed is all of an owner that can be printed. The guard is a checksum of the whole value.
func printed(list []sources.Owner) []string {
	var texts []string
	for i := range list {
		o := &list[i]
		texts = append(texts, o.ID, o.Session, o.Label, o.Data.Head)
		for _, a := range o.Attrs {
			texts = append(texts, a.Key, a.Value)
		}
	}
	return texts
}

// shownOf is who is shown where a value stands in a string and, in turn, in another string, in a
// hash, in a sorted set, or beside a lock.
func shownOf(value string, turn int) (list []sources.Owner) {
	text := Content{Type: String, Text: []byte(value), Size: len(value)}
	inHash := Content{Type: Hash, Fields: map[string]string{value: "1"}, Size: 1}
	inSet := Content{Type: SortedSet, Members: []Member{{Text: value}}, Size: 1}
	others := []struct {
		key string
		Content
	}{
		{"app:x:lock", text}, {"lock:x", inHash}, {"uniquejobs:0f1e2d3c4b5a69788796a5b4c3d2e1f0:LOCKED", inHash}, {"SEMAPHORE:x:GRABBED", inHash}, {"semaphore:x", inSet},
		{"semaphore:count", Content{Type: String, Text: []byte("5"), Size: 1}},
		{"redisson:lock", Content{Type: Hash, Fields: map[string]string{uuidA + ":51": "1"}, Size: 1}},
	}
	other := &others[turn%len(others)]
	first := Read("lock", &text, nil, Options{})
	second := Read(other.key, &other.Content, []Content{inSet, inSet, {}, {}}, Options{})
	for _, l := range []Lock{first, second} {
		list = append(list, l.Owners...)
		for _, w := range l.Queue.Waiters {
			list = append(list, sources.Owner{ID: w.ID, Session: w.Session, Label: w.Label})
		}
	}
	return list
}

// encoded is a recording in which owners appear.
func encoded(owners []sources.Owner) string {
	e := tape.NewEncoder(tape.EncoderOptions{})
	b := e.Keyframe(nil, new(sources.Keyframe))
	set := []*sources.Primitive{{Owners: owners, Candidates: []sources.Waiter{{Guard: owners[0].Guard}}}}
	return string(e.Input(b, &sources.Input{Kind: sources.InputChange, Change: sources.Change{Set: set}}))
}

// TestNoNonceIsShown draws values as the libraries write them, with names before, behind and
// around. Everything that is printed comes from what Read returns.
func TestNoNonceIsShown(t *testing.T) {
	t.Parallel()
	names, err := os.ReadFile("../../../internal/ground/legible/testdata/names.txt") // that may stand beside a nonce
	if err != nil {
		t.Fatal(err)
	}
	values := 100_000
	if testing.Short() {
		values = 20_000
	}
	if all, err := strconv.Atoi(os.Getenv("COORDTOP_TEST_NONCES")); err == nil { // make fuzz
		values = all
	}
	n := &nonces{rand.New(rand.NewPCG(0, 1)), strings.Split(strings.TrimSpace(string(names)), "\n")}
	for turn := range values {
		value, nonce := n.value()
		owners := shownOf(value, turn)
		if turn%100 == 0 { // nor does a nonce get into a recording, or what is compared with one
			bytes := encoded(owners)
			for i := range owners {
				if part := leak(bytes, nonce+owners[i].Guard); part != "" {
					t.Fatalf("of %q, whose nonce is %q and guard %q, %q is recorded: %q", value, nonce, owners[i].Guard, bytes, part)
				}
			}
		}
		for _, text := range printed(owners) {
			if part := leak(text, nonce); part != "" {
				t.Fatalf("of %q, whose nonce is %q, %q is shown: %q", value, nonce, text, part)
			}
		}
	}
}
