package legible_test

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Alphabets of nonces.
const (
	small     = "abcdefghijklmnopqrstuvwxyz"
	capital   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
	base62    = digits + capital + small
	hexSmall  = digits + "abcdef"
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	rfc4648   = capital + "234567"
	base58    = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	ofURLs    = base62 + "-_"
)

// drawing draws nonces and the texts around them.
type drawing struct{ *rand.Rand }

func (d drawing) of(list ...string) string { return list[d.IntN(len(list))] }

func (d drawing) signs(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[d.IntN(len(alphabet))]
	}
	return string(b)
}

func (d drawing) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.IntN(256))
	}
	return b
}

func (d drawing) length() int { return 12 + d.IntN(53) }

func (d drawing) uuid(version byte) string {
	b := d.bytes(16)
	b[6], b[8] = b[6]&15|version<<4, b[8]&63|128
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func bare(uuid string) string { return strings.ReplaceAll(uuid, "-", "") }

// alphabets of nonces that are one text.
var alphabets = []string{
	hexSmall, strings.ToUpper(hexSmall), rfc4648, strings.ToLower(rfc4648), crockford, strings.ToLower(crockford),
	digits + small, digits + capital, base62, base58, base62 + "+/", ofURLs, ofURLs,
	small, capital, small + capital, digits, small + "-", small + digits + "-", small + digits + "_", small + "._-", capital + digits + "-",
	small + "-_", hexSmall + "-", small + digits + ":", small + digits + ".", small + "/", small + "@:", digits + ".", digits + "-",
}

// nonce draws a random proof of ownership as a library or a person would.
func (d drawing) nonce() string {
	switch d.IntN(32) {
	case 0: // redsync
		return base64.StdEncoding.EncodeToString(d.bytes(16))
	case 1: // redislock
		return base64.RawURLEncoding.EncodeToString(d.bytes(16))
	case 2: // node-redlock, rq
		return hex.EncodeToString(d.bytes(16))
	case 3: // redlock-rb, Spring, dk, ShedLock
		return d.uuid(4)
	case 4: // redis-py, redbeat
		return bare(d.uuid(1))
	case 5:
		return d.of(strings.ToUpper(d.uuid(4)), d.uuid(1), d.uuid(7), "{"+d.uuid(4)+"}")
	case 6: // Laravel
		return d.signs(base62, 16)
	case 7: // Sidekiq: SecureRandom.hex(6), jid of 12 bytes
		return hex.EncodeToString(d.bytes(d.of2(6, 12)))
	case 8: // ULID, KSUID, nanoid, crypto/rand.Text, xid, cuid
		return d.of("01J"+d.signs(crockford, 23), "2"+d.signs(base62, 26), d.signs(ofURLs, 21), d.signs(rfc4648, 26),
			d.signs("0123456789abcdefghijklmnopqrstuv", 20), "c"+d.signs(digits+small, 24))
	case 9: // JWT, or the head of one
		t := "eyJhbGciOiJIUzI1NiJ9." + d.signs(ofURLs, 20+d.IntN(20)) + "." + d.signs(ofURLs, 43)
		return t[:min(len(t), 24+d.IntN(80))]
	case 10:
		t := base64.StdEncoding.EncodeToString(d.bytes(9 + d.IntN(39)))
		return t
	case 11:
		return strings.ToLower(base32.StdEncoding.EncodeToString(d.bytes(8 + d.IntN(30))))
	case 12:
		sum := sha1.Sum(d.bytes(8))
		return hex.EncodeToString(sum[:])
	case 13, 14, 15, 16, 17, 18: // groups of one length, or of different ones
		return d.groups()
	case 19:
		return d.wordlike()
	case 20: // letters, then digits, as by a template
		t := ""
		for n := d.length(); len(t) < n; {
			t += d.signs(d.of(small, digits, capital), 1+d.IntN(6))
		}
		return t
	case 21, 22, 23: // short, where chance is greatest
		return d.signs(alphabets[d.IntN(len(alphabets))], 12+d.IntN(5))
	}
	return d.signs(alphabets[d.IntN(len(alphabets))], d.length())
}

func (d drawing) of2(a, b int) int {
	if d.IntN(2) == 0 {
		return a
	}
	return b
}

// groups draws a nonce that is written in groups.
func (d drawing) groups() string {
	alphabet := d.of(hexSmall, strings.ToUpper(hexSmall), rfc4648, crockford, digits+small, digits+capital, base62, small, capital, small+capital, digits, "bcdfghjklmnpqrstvwxz", "aeioubcdfghjklmnpqrstvwxyz")
	sep, size, n := d.of("-", "_", ".", ":", "/", " "), 2+d.IntN(5), d.length()
	same, title, several := d.IntN(2) == 0, d.IntN(12) == 0, d.IntN(6) == 0
	var b strings.Builder
	for b.Len() < n {
		if b.Len() > 0 {
			if several {
				sep = d.of("-", "_", ".", ":", "/", " ", "@")
			}
			b.WriteString(sep)
		}
		if !same {
			size = 2 + d.IntN(5)
		}
		g := d.signs(alphabet, size)
		if title {
			g = strings.ToUpper(g[:1]) + strings.ToLower(g[1:])
		}
		b.WriteString(g)
	}
	return b.String()
}

// wordlike draws random letters with capitals where words would have them.
func (d drawing) wordlike() string {
	t, sep := "", d.of("", "", "-", "_", ".")
	for n := d.length(); len(t) < n; {
		if t != "" {
			t += sep
		}
		t += d.signs(capital, 1) + d.signs(small, 2+d.IntN(5))
		if d.IntN(6) == 0 {
			t += d.signs(digits, 1+d.IntN(2))
		}
	}
	return t
}

var hostsAround = []string{
	"worker-b", "billing", "orders-api-5d8f7c9b6d-x2k4q", "web1", "host", "localhost", "app-01.eu-west-1.compute.internal", "ip-10-0-3-17",
	"ip-172-31-7-200.ec2.internal", "10.0.0.7", "db.example.com", "alice", "root", "cron", "scheduler", "resque", "prod", "MacBook-Pro.local",
	"lock", "owner", "token", "id", "v1", "job", "payments:worker", "deploy@ci-runner-3", "srv-db01.fra1.example.net", "queue:mailers", "a", "x1",
	"node-3", "laravel_database", "app", "kafka-0.kafka.svc.cluster.local", "redis", "us-east-1", "api.internal", "my service", "Worker", "ORDERS",
}

// around draws what stands before or after a nonce.
func (d drawing) around() string {
	switch d.IntN(8) {
	case 0:
		return d.of(hostsAround...) + ":" + fmt.Sprint(1+d.IntN(65535))
	case 1:
		return fmt.Sprint(d.IntN(100000))
	case 2:
		return d.of(hostsAround...) + d.of("-", ".", ":", "/", "@", " ") + d.of(hostsAround...)
	}
	return d.of(hostsAround...)
}

// value draws a nonce, a value with it, and what else stands in the value.
func (d drawing) value() (nonce, value, rest string) {
	nonce = d.nonce()
	sep := func() string {
		return d.of("", "", "-", "_", ".", ":", "/", "@", " ", ",", ";", "|", "#", "=", "::", "--", "\n")
	}
	before, after := d.around(), d.around()
	switch d.IntN(16) {
	case 0, 1, 2, 3, 4:
		return nonce, nonce, ""
	case 5, 6:
		before += sep()
		return nonce, before + nonce, before
	case 7, 8:
		after = sep() + after
		return nonce, nonce + after, after
	case 9, 10:
		before, after = before+sep(), sep()+after
		return nonce, before + nonce + after, before + "\x00" + after
	case 11: // PHP
		before, after = fmt.Sprintf(`s:%d:"`, len(nonce)), `";`
		return nonce, before + nonce + after, before + "\x00" + after
	case 12: // JSON
		owner := d.of("token", "id", "nonce", "uuid", "owner", "value", "name", "host", "worker")
		text, _ := json.Marshal(map[string]any{owner: nonce, "pid": d.IntN(65536), "label": before})
		if d.IntN(2) == 0 {
			text, _ = json.Marshal(map[string]any{owner: nonce})
		}
		return nonce, string(text), before
	case 13: // redislock's metadata, Redisson's thread, BullMQ's number
		after = d.of(after, fmt.Sprint(":", d.IntN(500)), fmt.Sprint(":", d.IntN(500), ":write"))
		return nonce, nonce + after, after
	case 14: // ShedLock
		before = fmt.Sprintf("ADDED:2026-0%d-1%dT0%d:1%d:27.%03dZ@%s:", 1+d.IntN(9), d.IntN(10), d.IntN(10), d.IntN(10), d.IntN(1000), d.of(hostsAround...))
		return nonce, before + nonce, before
	}
	before = fmt.Sprint(d.of(hostsAround...), ":", 1+d.IntN(65535), ":") // Sidekiq
	return nonce, before + nonce, before
}

// leaked returns eight characters in a row of a nonce that stand in what is shown, though not
// in what stood around the nonce.
func leaked(nonce, rest, shown string) string {
	for i := 0; i+8 <= len(nonce); i++ {
		if w := nonce[i : i+8]; strings.Contains(shown, w) && !strings.Contains(rest, w) {
			return w
		}
	}
	return ""
}

// hard draws a value as value does, of the kinds that are the hardest to tell from names: short
// nonces in groups, alone or with text at one end or both.
func (d drawing) hard() (nonce, value, rest string) {
	alphabet := d.of("abcdefghijklmnopqrstuvwxyz", digits+small, "abcdefghijklmnopqrstuvwxyz", "aeioubcdfghjklmnpqrstvwxyz", capital)
	sep, n := d.of("-", "_", ".", ":", "/", " "), 12+d.IntN(3)
	for len(nonce) < n {
		if nonce != "" {
			nonce += sep
		}
		nonce += d.signs(alphabet, 2+d.IntN(5))
	}
	seps := d.of("", "-", "_", ".", ":", "/", "@", " ", ";", "|")
	switch d.IntN(5) {
	case 0, 1:
		return nonce, nonce, ""
	case 2:
		rest = d.around() + seps
		return nonce, rest + nonce, rest
	case 3:
		rest = seps + d.around()
		return nonce, nonce + rest, rest
	}
	before, after := d.around()+seps, seps+d.around()
	return nonce, before + nonce + after, before + "\x00" + after
}
