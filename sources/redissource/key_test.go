package redissource

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"coordtop/internal/ground/raced"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

var epoch = time.Date(2026, 9, 14, 12, 0, 0, 0, time.UTC)

func ms(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond).Local() }

// lockReading is a look at a lock's value that took 2 ms.
func lockReading(sent int, value string, ttl time.Duration) *reading {
	return &reading{shape: text, sent: ms(sent), got: ms(sent + 2), head: []byte(value), size: len(value), ttl: ttl}
}

func missingReading(sent int) *reading {
	return &reading{shape: missing, sent: ms(sent), got: ms(sent + 2), ttl: gone}
}

// see takes readings in, one after the other, and returns the last one's primitive.
func see(k *key, readings ...*reading) (p *sources.Primitive, fresh bool) {
	o := Options{Name: "src"}.withDefaults()
	for _, r := range readings {
		var f facts
		f, p = k.examine(&o, "0", r)
		if fresh = k.update(&f, r); p == nil {
			p = k.primitive(&o, "0", r)
		}
		if fresh {
			k.handOver(p, true)
		}
	}
	return p, fresh
}

func TestLeaseEndsBetweenTheBoundsOfItsReading(t *testing.T) {
	t.Parallel()
	k := newKey("app:leader:x", rule{})
	p, _ := see(k, lockReading(0, uuidA, 30*time.Second))
	o := p.Owners[0]
	if want := sources.StampBetween(ms(30000-1), ms(30000+3), sources.Told); o.Expires != want {
		t.Errorf("expires %+v", o.Expires)
	}
	if o.Lease != 30*time.Second || o.NoExpiry || p.Kind != sources.KindElection || p.Taken != 1 || p.Limit != 1 {
		t.Errorf("%+v", p)
	}
}

func TestOnlyADifferenceIsHandedOver(t *testing.T) {
	t.Parallel()
	base := lockReading(0, uuidA, 30*time.Second)
	tests := []struct {
		name  string
		then  *reading
		fresh bool
	}{
		{"the same, later", lockReading(1000, uuidA, 29*time.Second), false},
		{"the same, read a little slower", lockReading(1000, uuidA, 28999*time.Millisecond), false},
		{"renewed", lockReading(1000, uuidA, 30*time.Second), true},
		{"cut short", lockReading(1000, uuidA, 5*time.Second), true},
		{"no end any more", lockReading(1000, uuidA, noTTL), true},
		{"another owner with the same end", lockReading(1000, uuidB, 29*time.Second), true},
		{"data", lockReading(1000, uuidA+" x", 29*time.Second), true},
		{"gone", missingReading(1000), true},
		{"a list", &reading{shape: other, typ: "list", sent: ms(1000), got: ms(1001), ttl: noTTL}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKey("k", rule{})
			see(k, base)
			if _, fresh := see(k, tt.then); fresh != tt.fresh {
				t.Errorf("handed over: %v", fresh)
			}
		})
	}
}

func TestTheEndOfALeaseIsHandedOverOnceItIsKnownBetter(t *testing.T) {
	t.Parallel()
	k := newKey("app:leader:x", rule{})
	late := lockReading(0, uuidA, 29*time.Second)
	late.got = ms(1000) // the value was read somewhere within a second
	wide, _ := see(k, late)
	if span := wide.Owners[0].Expires; span.At.Sub(span.After()) < time.Second {
		t.Fatalf("a reading that took a second says when the lease ends: %+v", span)
	}
	p, fresh := see(k, lockReading(1100, uuidA, 28500*time.Millisecond))
	if end := p.Owners[0].Expires; !fresh || end.At.Sub(end.After()) > 10*time.Millisecond {
		t.Errorf("handed over %v: %+v", fresh, end)
	}
	if _, fresh := see(k, lockReading(2100, uuidA, 27500*time.Millisecond)); fresh {
		t.Error("it is handed over again, and is known no better")
	}
}

func TestLeaseLengthIsTheLongestRemainderOfOneOwner(t *testing.T) {
	t.Parallel()
	k := newKey("k", rule{})
	p, _ := see(k, lockReading(0, uuidA, 20*time.Second), lockReading(1000, uuidA, 30*time.Second), lockReading(9000, uuidA, 25*time.Second))
	if p.Owners[0].Lease != 30*time.Second {
		t.Errorf("lease %v", p.Owners[0].Lease)
	}
	if p, _ := see(k, lockReading(10000, uuidB, 5*time.Second)); p.Owners[0].Lease != 5*time.Second {
		t.Errorf("the next owner's lease is %v", p.Owners[0].Lease)
	}
}

func TestALeaseThatGotShorterHasTheLengthThatItIsRenewedTo(t *testing.T) {
	t.Parallel()
	for name, then := range map[string][]*reading{
		"cut":                       {lockReading(3000, uuidA, 10*time.Second)},
		"cut and renewed":           {lockReading(3000, uuidA, 10*time.Second), lockReading(6000, uuidA, 10*time.Second)},
		"cut, read late, renewed":   {lockReading(5000, uuidA, 8*time.Second), lockReading(6000, uuidA, 10*time.Second)},
		"renewed for less":          {lockReading(55000, uuidA, 10*time.Second), lockReading(58000, uuidA, 10*time.Second)},
		"renewed once for less":     {lockReading(40000, uuidA, 20*time.Second), lockReading(59000, uuidA, 10*time.Second)},
		"had no end for some time":  {lockReading(1000, uuidA, noTTL), lockReading(2000, uuidA, 10*time.Second)},
		"cut to less than it gives": {lockReading(3000, uuidA, time.Second), lockReading(3500, uuidA, 10*time.Second)},
	} {
		k := newKey("k", rule{})
		see(k, lockReading(0, uuidA, 60*time.Second))
		if p, _ := see(k, then...); p.Owners[0].Lease != 10*time.Second {
			t.Errorf("%s: lease %v", name, p.Owners[0].Lease)
		}
	}
}

func TestALeaseThatIsReadLateKeepsItsLength(t *testing.T) {
	t.Parallel()
	for name, then := range map[string][]*reading{
		"not renewed":             {lockReading(55000, uuidA, 5*time.Second)},
		"clocks part":             {lockReading(55000, uuidA, 4910*time.Millisecond)},
		"renewed and read late":   {lockReading(50000, uuidA, 20*time.Second)},
		"renewed, read, not read": {lockReading(30000, uuidA, 50*time.Second), lockReading(70000, uuidA, 40*time.Second)},
	} {
		k := newKey("k", rule{})
		see(k, lockReading(0, uuidA, 60*time.Second))
		see(k, then...)
		if k.lease != 60*time.Second {
			t.Errorf("%s: lease %v", name, k.lease)
		}
	}
}

// ownerOf is the first owner that a reading of a lock shows.
func ownerOf(r *reading, patterns ...*regexp.Regexp) sources.Owner {
	return lockformat.Read("lock", r.content(), nil, lockformat.Options{Legible: patterns}).Owners[0]
}

func TestValueTellsItsOwnerAndNeverTheNonce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value, id, label, data string
		bytes                  int
	}{
		{"host-1:42", "host-1:42", "host-1:42", "", 0},
		{uuidA + " host-1:42 zone=a", "", "host-1:42", "host-1:42 zone=a", 16},
		{uuidA, "", "", "", 36},
		{"", "", "", "", 0},
	}
	for _, tt := range tests {
		o := ownerOf(lockReading(0, tt.value, noTTL))
		if tt.id != "" && o.ID != tt.id || tt.id == "" && (o.ID[0] != '#' || len(o.ID) != 9) {
			t.Errorf("%q: ID %q", tt.value, o.ID)
		}
		if tt.label != "" && o.Label != tt.label || string(o.Data.Head) != tt.data || o.Data.Len != tt.bytes || len(o.Guard) != 40 {
			t.Errorf("%q: %+v", tt.value, o)
		}
	}
	long := &reading{shape: text, head: []byte(uuidA + " " + string(make([]byte, sources.BlobHead-37))), size: 1 << 20}
	if o := ownerOf(long); o.Data.Len != 1<<20-37 || o.Guard != "" {
		t.Errorf("a value that was cut: %d bytes, guard %q", o.Data.Len, o.Guard)
	}
}

func TestOtherTypesAreNamedAsSuch(t *testing.T) {
	t.Parallel()
	redisson := "8743c9c0-0795-4907-87fd-6c719a6b4586"
	tests := []struct {
		name   string
		r      *reading
		kind   sources.Kind
		owners int
		mode   sources.Mode
		note   string
	}{
		{"list", &reading{shape: other, typ: "list"}, sources.KindMutex, 0, 0, "a list, not a string"},
		{"sorted set", &reading{shape: other, typ: "zset"}, sources.KindMutex, 0, 0, "a sorted set, not a string"},
		{"hash of something else", &reading{shape: table, typ: "hash", fields: map[string]string{"a": "1"}}, sources.KindMutex, 0, 0, "a hash, not a string: its owner is unknown"},
		{"hash with a foreign field", &reading{shape: table, typ: "hash", fields: map[string]string{redisson + ":51": "1", "a": "b"}}, sources.KindMutex, 0, 0, "a hash, not a string: its owner is unknown"},
		{"a lock of Redisson", &reading{shape: table, typ: "hash", fields: map[string]string{redisson + ":51": "2"}}, sources.KindMutex, 1, sources.Exclusive, ""},
		{"two readers", &reading{shape: table, typ: "hash", fields: map[string]string{"mode": "read", redisson + ":51": "1", redisson + ":52": "1"}}, sources.KindMutex, 2, sources.Shared, ""},
		{"a writer", &reading{shape: table, typ: "hash", fields: map[string]string{"mode": "write", redisson + ":51:write": "1"}}, sources.KindMutex, 1, sources.Exclusive, ""},
		{"a count of permits", lockReading(0, "5", noTTL), sources.KindSemaphore, 0, 0, "a count of free permits: it does not tell who owns the others"},
		{"no right", &reading{shape: denied}, sources.KindMutex, 0, 0, "no right to read it: give the user +pttl +strlen +getrange on this key"},
		{"another node", &reading{shape: moved}, sources.KindMutex, 0, 0, "another node of the cluster has it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := see(newKey("k", rule{kind: tt.kind}), tt.r)
			if len(p.Owners) != tt.owners || p.Note != tt.note || (p.OwnersHow == sources.Unknown) != (tt.note != "") {
				t.Fatalf("%+v", p)
			}
			for _, o := range p.Owners {
				if o.Mode != tt.mode || o.ID[0] != '#' || o.Session != "" || o.Attrs[0].Key != "taken" {
					t.Errorf("owner %+v", o)
				}
			}
		})
	}
}

func TestKeyWithoutOwnerIsForgottenUnlessItWasNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule rule
		want time.Duration
	}{{rule{}, time.Hour}, {rule{exact: true}, never}, {rule{expected: true}, never}} {
		if got := newKey("k", tt.rule).forgetAfter(time.Hour); got != tt.want {
			t.Errorf("%+v: %v", tt.rule, got)
		}
	}
}

func TestWrittenMeanwhileIsReadAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		before, after time.Duration
		want          bool
	}{
		{time.Second, time.Second, true}, {time.Second, 999 * time.Millisecond, true}, {time.Second, 2 * time.Second, false},
		{time.Second, 995 * time.Millisecond, true}, {time.Second, 990 * time.Millisecond, false},
		{gone, gone, true}, {gone, time.Second, false}, {time.Second, gone, false},
		{noTTL, noTTL, true}, {time.Second, noTTL, false}, {noTTL, time.Second, false}, {noTTL, gone, false},
	}
	for _, tt := range tests {
		if got := stood(tt.before, tt.after, 5*time.Millisecond); got != tt.want {
			t.Errorf("from %v to %v: %v", tt.before, tt.after, got)
		}
	}
}

func TestPushedChangeIsAnInstantOnlyIfAllWasPrompt(t *testing.T) {
	t.Parallel()
	r := &reading{sent: ms(1001), got: ms(1002)}
	n := notice{first: ms(1000), last: ms(1000), floor: ms(980)}
	late := n
	late.floor = ms(600)
	old := late
	old.floor = ms(50)
	tests := []struct {
		name string
		n    notice
		r    *reading
		want span
	}{
		{"prompt", n, r, span{at: ms(1000)}},
		{"the link was late", late, r, span{ms(600), ms(1002)}},
		{"the read was late", n, &reading{sent: ms(1001), got: ms(1100)}, span{ms(980), ms(1100)}},
		{"a second push was late", notice{first: ms(1000), last: ms(1010), floor: ms(980)}, &reading{sent: ms(1011), got: ms(1012)}, span{ms(980), ms(1012)}},
		{"no ping was answered yet", notice{first: ms(1000), last: ms(1000)}, r, span{ms(100), ms(1002)}},
		{"the last look was later than the ping", old, r, span{ms(100), ms(1002)}},
	}
	for _, tt := range tests {
		if got := told(span{ms(100), tt.r.got}, tt.r, tt.n, sources.Promptness); got != tt.want {
			t.Errorf("%s: %v to %v", tt.name, got.after, got.at)
		}
	}
}

func TestEndIsToldOnlyByAnEventOrAFlush(t *testing.T) {
	t.Parallel()
	k := newKey("k", rule{})
	before, _ := see(k, lockReading(0, uuidA, 30*time.Second))
	free, _ := see(newKey("k", rule{}), missingReading(0))
	other, _ := see(newKey("k", rule{}), lockReading(0, uuidB, 30*time.Second))
	events := func(list ...string) notice { return notice{first: ms(10), last: ms(10), events: list} }
	tests := []struct {
		name  string
		after *sources.Primitive
		n     notice
		want  sources.Cause
		how   sources.Known
	}{
		{"deleted", free, events("del"), sources.CauseReleased, sources.Told},
		{"renewed, then deleted", free, events("expire", "del"), sources.CauseReleased, sources.Told},
		{"expired", free, events("expired"), sources.CauseExpired, sources.Told},
		{"evicted", free, events("evicted"), sources.CauseDeleted, sources.Told},
		{"written over", other, events("set", "expire"), sources.CauseReplaced, sources.Told},
		{"deleted and taken", other, events("del", "set", "expire"), sources.CauseReleased, sources.Told},
		{"proclaimed, then deleted and taken", other, events("set", "del", "set", "expire"), sources.CauseReleased, sources.Inferred},
		{"proclaimed, then expired", free, events("set", "expired"), sources.CauseExpired, sources.Inferred},
		{"rewritten, and its end not told yet", free, events("set"), sources.CauseUnknown, 0},
		{"flushed", free, notice{first: ms(10), last: ms(10), flush: true}, sources.CauseDeleted, sources.Inferred},
		{"flushed after its end", free, notice{first: ms(40000), last: ms(40000), flush: true}, sources.CauseUnknown, 0},
		{"flushed and taken", other, notice{first: ms(10), last: ms(10), flush: true}, sources.CauseUnknown, 0},
		{"pushed", free, events(), sources.CauseUnknown, 0},
		{"the same owner", before, events("set"), sources.CauseUnknown, 0},
	}
	for _, tt := range tests {
		now := factsOf(tt.after)
		e := ending(k, &now, tt.n)
		if (e == nil) != (tt.want == sources.CauseUnknown) || e != nil && (e.Cause != tt.want || e.How != tt.how || e.Owner != before.Owners[0].ID) {
			t.Errorf("%s: %+v", tt.name, e)
		}
	}
}

func TestChangesOfOneInstantAreToldTogetherInOrder(t *testing.T) {
	t.Parallel()
	named := func(name string, s span) finding {
		return finding{prim: &sources.Primitive{Ref: sources.Ref{Name: name}}, when: s}
	}
	list := changes([]finding{named("late", span{at: ms(9)}), named("a", span{ms(1), ms(5)}), named("b", span{ms(1), ms(5)}), named("c", span{at: ms(5)})})
	var got []string
	for _, c := range list {
		text := ""
		for _, p := range c.Set {
			text += p.Name + " "
		}
		got = append(got, text)
	}
	if len(got) != 3 || got[0] != "c " || got[1] != "a b " || got[2] != "late " {
		t.Errorf("%q", got)
	}
}

// TestATextThatWasReadBeforeTellsWhatItTold takes the same readings in with one key that remembers the last text,
// with one that reads each anew, and with one that keeps less than the others.
func TestATextThatWasReadBeforeTellsWhatItTold(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it reads and compares in one goroutine")
	const seeds = uint64(40)
	values := []string{uuidA, uuidB, uuidA + ":1", uuidA + " data", "host-1:4711", "host-2:4711 x", "1419000000.25", "2026-11-22T12:00:00Z", "true", "17", "",
		"\xff\x00", `{"owner":"a","expires":1790000000000}`, "ADDED:2026-11-22T12:00:00.000Z@host-1", strings.Repeat("x", 4096)}
	lives := []time.Duration{noTTL, 0, time.Second, 30 * time.Second, time.Hour}
	for _, name := range []string{"app:leader:x", "app:lock:x", "rq:scheduler-lock", "uniquejobs:0123456789abcdef0123", "redisson:x", "job-lock:default:x"} {
		for seed := range seeds {
			chance := rand.New(rand.NewPCG(seed, 7))
			remembers, forgets := newKey(name, rule{guessed: seed%2 == 0}), newKey(name, rule{guessed: seed%2 == 0})
			crowded := newKey(name, rule{guessed: seed%2 == 0}) // one of too many
			for at, same := 0, 0; at < 60_000; at += 1 + chance.IntN(3000) {
				r := lockReading(at, values[chance.IntN(len(values))], lives[chance.IntN(len(lives))])
				switch chance.IntN(6) {
				case 0:
					r = missingReading(at)
				case 1:
					r.size += 10_000
				case 2, 3:
					r = lockReading(at, values[same%len(values)], lives[same%len(lives)])
				default:
					same = chance.IntN(100)
				}
				forgets.checksum = 0
				was, wasFresh := see(forgets, r)
				is, isFresh := see(remembers, r)
				crowded.whole = nil
				anew, anewFresh := see(crowded, r)
				if anewFresh != isFresh || isFresh && !reflect.DeepEqual(anew, is) {
					t.Fatalf("%s, seed %d, %q for %v: interpreted anew %v\n%+v\n%+v", name, seed, r.head, r.ttl, anewFresh, is, anew)
				}
				if wasFresh != isFresh || isFresh && !reflect.DeepEqual(was, is) || factsOf(was) != factsOf(is) {
					t.Fatalf("%s, seed %d, %q for %v: handed over %v, not %v\n%+v\n%+v", name, seed, r.head, r.ttl, isFresh, wasFresh, is, was)
				}
			}
		}
	}
}
