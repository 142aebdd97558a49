package redissource

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources/redissource/lockformat"
)

// mostFields bounds the hashes and sorted sets that are read; mostPeeked those whose names do not
// say that they are locks.
const (
	mostFields = 128
	mostPeeked = 16
)

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
		most := int64(mostFields)
		if questions[i].peek {
			most = mostPeeked
		}
		if n, err := size.Int64(); err == nil && n <= most && a.packed() {
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
