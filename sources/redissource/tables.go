package redissource

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
)

// mostFields bounds the hashes that are read.
const mostFields = 128

// fetchTables looks again at keys that are no strings. Hashes that the server keeps
// packed are read: it packs only those whose fields are few and short, which no other
// cheap question tells.
func fetchTables(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, which []int, readings []*reading) error {
	pipe := c.Pipeline()
	types := make([]*redis.StatusCmd, len(which))
	packing := make([]*redis.StringCmd, len(which))
	sizes := make([]*redis.IntCmd, len(which))
	// The key itself may be read: its value was asked for. So what is refused
	// here is the command. "object|encoding" before 7.0 is "object".
	mayType, mayEncoding, mayLen := refusals.Refused("type") == nil, refusals.Refused("object|encoding") == nil, refusals.Refused("hlen") == nil
	for n, i := range which {
		types[n], packing[n], sizes[n] = redis.NewStatusCmd(ctx), redis.NewStringCmd(ctx), redis.NewIntCmd(ctx)
		if mayType {
			types[n] = pipe.Type(ctx, questions[i].name)
		}
		if mayType && mayEncoding && mayLen {
			packing[n], sizes[n] = pipe.ObjectEncoding(ctx, questions[i].name), pipe.HLen(ctx, questions[i].name)
		}
	}
	sent := time.Now()
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	got := time.Now()
	var small []int
	for n, i := range which {
		refusals.Note("type", types[n].Err())
		refusals.Note("object|encoding", packing[n].Err())
		refusals.Note("hlen", sizes[n].Err())
		switch typ := types[n].Val(); typ {
		case "none":
			readings[i] = &reading{shape: missing, sent: sent, got: got}
			continue
		case "string":
			continue // it was none a moment ago
		case "hash":
			if isPacked(packing[n].Val()) && sizes[n].Val() <= mostFields {
				small = append(small, i)
			}
		}
		readings[i] = &reading{shape: other, typ: types[n].Val(), ttl: noTTL, sent: sent, got: got}
	}
	if refusals.Refused("hgetall") != nil {
		return nil
	}
	return fetchFields(ctx, c, refusals, questions, small, readings)
}

func isPacked(encoding string) bool {
	return encoding == "listpack" || encoding == "ziplist"
}

// fetchFields replaces the readings of small hashes. One that was written meanwhile, or
// that we have no right to read, keeps the reading that it has.
func fetchFields(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, which []int, readings []*reading) error {
	if len(which) == 0 {
		return nil
	}
	pipe := c.Pipeline()
	fields := make([]*redis.MapStringStringCmd, len(which))
	ttls := make([][2]*redis.DurationCmd, len(which))
	for n, i := range which {
		ttls[n][0] = pipe.PTTL(ctx, questions[i].name)
		fields[n] = pipe.HGetAll(ctx, questions[i].name)
		ttls[n][1] = pipe.PTTL(ctx, questions[i].name)
	}
	sent := time.Now()
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	got := time.Now()
	for n, i := range which {
		refusals.Note("hgetall", fields[n].Err())
		before, after := ttls[n][0].Val(), ttls[n][1].Val()
		switch {
		case fields[n].Err() != nil:
		case !stood(before, after, got.Sub(sent)):
			readings[i] = nil
		case after == gone:
			readings[i] = &reading{shape: missing, sent: sent, got: got}
		default:
			readings[i] = &reading{shape: table, typ: "hash", fields: fields[n].Val(), ttl: after, sent: sent, got: got}
		}
	}
	return nil
}
