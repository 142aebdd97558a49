package redissource

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// chunk is how many keys are read in one go: more make the server's other clients wait.
const chunk = 500

// burstChunk is how many pushed keys are read in one go: what is pushed while they are waits
// for them.
const burstChunk = 200

// tries is how often a key is read again that was written while it was read. A key that
// is still in motion then is told by the push of its last write, or by the next poll.
const tries = 3

// question is one key to be read.
type question struct {
	name  string
	arm   bool         // its next change is to be pushed
	brief bool         // a reading that differs is not believed: PTTL and GETRANGE are enough
	kind  sources.Kind // of the key, as far as a person said
	known uint64       // key.checksum: the lock has no companions while its text has this sum; 0: it may have some
}

// asked is what one look at one key sends.
type asked struct {
	before, after *redis.DurationCmd
	size          *redis.IntCmd
	head          *redis.StringCmd
}

// fetch reads keys and returns one reading for each, in order. A nil reading is of a key that
// would not stand still. An error means that the connection is over.
func fetch(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question) ([]*reading, error) {
	readings := make([]*reading, len(questions))
	again := make([]int, len(questions))
	for i := range again {
		again[i] = i
	}
	var tables []int
	for try := 0; try < tries && len(again) > 0; try++ {
		var err error
		var found []int
		if again, found, err = fetchTexts(ctx, c, questions, again, readings); err != nil {
			return nil, err
		}
		tables = append(tables, found...)
	}
	if len(tables) > 0 {
		if err := fetchTables(ctx, c, refusals, questions, tables, readings); err != nil {
			return nil, err
		}
	}
	return readings, fetchCompanions(ctx, c, refusals, questions, readings)
}

// fetchTexts reads questions[i] for every i in which. It returns those that were written
// meanwhile, or are too long to be read briefly, and those that are no strings.
func fetchTexts(ctx context.Context, c *redis.Conn, questions []question, which []int, readings []*reading) (again, tables []int, err error) {
	pipe := c.Pipeline()
	answers := make([]asked, len(which))
	for n, i := range which {
		q, a := &questions[i], &answers[n]
		if q.arm {
			pipe.Do(ctx, "CLIENT", "CACHING", "YES") // of the next command, which arms the key
		}
		a.before, a.size = pipe.PTTL(ctx, q.name), new(redis.IntCmd)
		a.head, a.after = pipe.GetRange(ctx, q.name, 0, sources.BlobHead-1), a.before
		if !q.brief {
			a.size, a.after = pipe.StrLen(ctx, q.name), pipe.PTTL(ctx, q.name)
		}
	}
	sent := time.Now()
	if err := exec(ctx, pipe); err != nil {
		return nil, nil, err
	}
	got := time.Now()
	for n, i := range which {
		r := &reading{sent: sent, got: got}
		switch steady, err := answers[n].read(r); {
		case redis.HasErrorPrefix(err, "WRONGTYPE"):
			tables = append(tables, i)
		case err != nil:
			return nil, nil, err
		case !steady, questions[i].brief && len(r.head) == sources.BlobHead:
			again = append(again, i)
			questions[i].brief = false
		default:
			readings[i] = r
		}
	}
	return again, tables, nil
}

// read fills r. steady is false if the key was written while it was read.
func (a asked) read(r *reading) (steady bool, err error) {
	switch err := errors.Join(a.before.Err(), a.size.Err(), a.head.Err(), a.after.Err()); {
	case redis.IsPermissionError(err):
		r.shape, r.lacks = denied, a.lacks()
		return true, nil
	case isMoved(err):
		r.shape = moved
		return true, nil
	case err != nil:
		return false, err
	}
	head := a.head.Val()
	r.ttl, r.size, r.head = a.after.Val(), max(int(a.size.Val()), len(head)), []byte(head)
	r.shape = text
	if r.ttl == gone {
		r.shape = missing
	}
	return stood(a.before.Val(), a.after.Val(), r.got.Sub(r.sent)), nil
}

// allRights are what a key is read with. All are refused where it is the key that may not be read.
const allRights = "+pttl +strlen +getrange"

// lacks are those of allRights that were refused.
func (a asked) lacks() string {
	var list []string
	for _, command := range []redis.Cmder{a.before, a.size, a.head} {
		if redis.IsPermissionError(command.Err()) {
			list = append(list, "+"+command.Name())
		}
	}
	return strings.Join(list, " ")
}

func isMoved(err error) bool {
	_, ok := redis.IsMovedError(err)
	return ok
}

// gone is what PTTL says of a key that does not exist; of one that stays it says noTTL.
const gone time.Duration = -2

// stood reports whether a key's remainder moved only as time moves it, in a look that took so
// long.
func stood(before, after, took time.Duration) bool {
	if before < 0 || after < 0 {
		return before == after
	}
	return after <= before && before-after <= took+2*tick
}

// exec sends what the pipe collected. Refusals of single commands are theirs to tell.
func exec(ctx context.Context, pipe redis.Pipeliner) error {
	_, err := pipe.Exec(ctx)
	if errors.As(err, new(redis.Error)) || errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// mostFields bounds the hashes and sorted sets that are read.
const mostFields = 128

// tableCommands are what is asked of a table: its type, and of which size it is.
type tableCommands struct {
	typ, packing *redis.Cmd
	size         [2]*redis.Cmd // as a hash, as a sorted set
}

// fetchTables looks again at keys that are no strings. Hashes and sorted sets that the server
// keeps packed are read: it packs only those whose fields are few and short, which no other
// cheap question tells.
func fetchTables(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, which []int, readings []*reading) error {
	pipe := c.Pipeline()
	asked := make([]tableCommands, len(which))
	// The key itself may be read: its value was asked for. So what is refused
	// here is the command. "object|encoding" before 7.0 is "object".
	ask := func(what string, args ...any) *redis.Cmd {
		if refusals.Refused(what) != nil {
			return redis.NewCmd(ctx)
		}
		return pipe.Do(ctx, args...)
	}
	for n, i := range which {
		name := questions[i].name
		asked[n] = tableCommands{ask("type", "TYPE", name), ask("object|encoding", "OBJECT", "ENCODING", name), [2]*redis.Cmd{ask("hlen", "HLEN", name), ask("zcard", "ZCARD", name)}}
	}
	sent := time.Now()
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	got := time.Now()
	var small []int
	for n, i := range which {
		a := &asked[n]
		refusals.Note("type", a.typ.Err())
		refusals.Note("object|encoding", a.packing.Err())
		refusals.Note("hlen", a.size[0].Err())
		refusals.Note("zcard", a.size[1].Err())
		typ, _ := a.typ.Text()
		if typ == "string" {
			continue // it was none a moment ago
		}
		if typ == "none" {
			readings[i] = &reading{shape: missing, sent: sent, got: got}
			continue
		}
		readings[i] = &reading{shape: other, typ: typ, ttl: noTTL, sent: sent, got: got}
		size := a.size[0]
		if typ == "zset" {
			size = a.size[1]
		}
		if n, err := size.Int64(); err == nil && n <= mostFields && a.packed() {
			small = append(small, i)
		}
	}
	return fetchFields(ctx, c, refusals, questions, small, readings)
}

func (a *tableCommands) packed() bool {
	encoding, _ := a.packing.Text()
	return encoding == "listpack" || encoding == "ziplist"
}

// fetchFields replaces the readings of small tables. One that was written meanwhile, or
// that we have no right to read, keeps the reading that it has.
func fetchFields(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, which []int, readings []*reading) error {
	pipe := c.Pipeline()
	fields := make(map[int]*redis.MapStringStringCmd)
	members := make(map[int]*redis.ZSliceCmd)
	ttls := make(map[int][2]*redis.DurationCmd)
	for _, i := range which {
		name, typ := questions[i].name, readings[i].typ
		if typ == "hash" && refusals.Refused("hgetall") != nil || typ == "zset" && refusals.Refused("zrange") != nil {
			continue
		}
		before := pipe.PTTL(ctx, name)
		if typ == "hash" {
			fields[i] = pipe.HGetAll(ctx, name)
		} else {
			members[i] = pipe.ZRangeWithScores(ctx, name, 0, -1)
		}
		ttls[i] = [2]*redis.DurationCmd{before, pipe.PTTL(ctx, name)}
	}
	if len(ttls) == 0 {
		return nil
	}
	sent := time.Now()
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	got := time.Now()
	for i, ttl := range ttls {
		r := &reading{shape: table, typ: readings[i].typ, ttl: ttl[1].Val(), sent: sent, got: got}
		var err error
		if asked := fields[i]; asked != nil {
			r.fields, err = asked.Result()
			refusals.Note("hgetall", err)
		} else {
			var list []redis.Z
			list, err = members[i].Result()
			refusals.Note("zrange", err)
			r.members = membersOf(list)
		}
		switch {
		case err != nil:
		case !stood(ttl[0].Val(), r.ttl, got.Sub(sent)):
			readings[i] = nil
		case r.ttl == gone:
			readings[i] = &reading{shape: missing, sent: sent, got: got}
		default:
			readings[i] = r
		}
	}
	return nil
}

func membersOf(list []redis.Z) []lockformat.Member {
	members := make([]lockformat.Member, len(list))
	for i, z := range list {
		text, _ := z.Member.(string)
		members[i] = lockformat.Member{Text: text, Score: z.Score}
	}
	return members
}
