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

// chunk is the maximum number of keys in one read. More would delay the server's other clients.
const chunk = 500

// burstChunk is the maximum number of pushed keys in one read, because pushes that arrive during the read wait for its
// answer.
const burstChunk = 200

// tries bounds the readings of a key that is written during each of them. A key that still changes is read at the push
// of its last write, or by the next poll.
const tries = 3

// question is one key to be read.
type question struct {
	name  string
	arm   bool         // the server shall push its next change
	brief bool         // PTTL and GETRANGE are enough, because a reading that differs is repeated anyway
	kind  sources.Kind // of the key, if configured
	known uint64       // key.checksum; a lock with this sum has no companions; 0: it may have some
}

// asked has the commands of one look at one key.
type asked struct {
	before, after *redis.DurationCmd
	size          *redis.IntCmd
	head          *redis.StringCmd
}

// fetch reads keys and returns one reading for each, in order, or nil for a key that was written during each try. If it
// returns an error, the connection has ended.
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

// fetchTexts reads questions[i] for every i in which. It returns in again the indexes of keys that were written
// during the read or are too long for a brief one, and in tables those of keys that are no strings.
func fetchTexts(ctx context.Context, c *redis.Conn, questions []question, which []int, readings []*reading) (again, tables []int, err error) {
	pipe := c.Pipeline()
	answers := make([]asked, len(which))
	for n, i := range which {
		q, a := &questions[i], &answers[n]
		if q.arm {
			pipe.Do(ctx, "CLIENT", "CACHING", "YES") // applies to the next command, which arms the key
		}
		a.before, a.size = pipe.PTTL(ctx, q.name), new(redis.IntCmd)
		a.head, a.after = pipe.GetRange(ctx, q.name, 0, sources.BlobHead-1), a.before
		if !q.brief {
			a.size, a.after = pipe.StrLen(ctx, q.name), pipe.PTTL(ctx, q.name)
		}
	}
	sent, got, err := exec(ctx, pipe)
	if err != nil {
		return nil, nil, err
	}
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

// read fills r from the answers. steady is false if the key was written while it was read.
func (a asked) read(r *reading) (steady bool, err error) {
	err = errors.Join(a.before.Err(), a.size.Err(), a.head.Err(), a.after.Err())
	_, elsewhere := redis.IsMovedError(err)
	switch {
	case redis.IsPermissionError(err):
		r.shape, r.lacks = denied, a.lacks()
		return true, nil
	case elsewhere:
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

// allRights are the commands that read a key. All of them are refused if the user has no right to the key.
const allRights = "+pttl +strlen +getrange"

// lacks returns the refused commands among allRights.
func (a asked) lacks() string {
	var list []string
	for _, command := range []redis.Cmder{a.before, a.size, a.head} {
		if redis.IsPermissionError(command.Err()) {
			list = append(list, "+"+command.Name())
		}
	}
	return strings.Join(list, " ")
}

// gone is PTTL's answer for a key that does not exist. For a key without a TTL the answer is noTTL.
const gone time.Duration = -2

// stood reports whether a key's remaining time shrank by no more than the duration of the look.
func stood(before, after, took time.Duration) bool {
	if before < 0 || after < 0 {
		return before == after
	}
	return after <= before && before-after <= took+2*tick
}

// exec sends the pipe. It ignores refused commands, which their own results report.
func exec(ctx context.Context, pipe redis.Pipeliner) (sent, got time.Time, err error) {
	sent = time.Now()
	if _, err = pipe.Exec(ctx); errors.As(err, new(redis.Error)) || errors.Is(err, redis.Nil) {
		err = nil
	}
	return sent, time.Now(), err
}

// mostFields bounds the hashes and sorted sets that are read.
const mostFields = 128

// tableCommands has the commands that read the type and the size of a table.
type tableCommands struct {
	typ, packing *redis.Cmd
	size         [2]*redis.Cmd // as a hash, as a sorted set
}

// fetchTables reads keys that are no strings. It reads a hash or a sorted set only if the server keeps it packed,
// because only those with few and short fields are packed, and no other cheap command shows that.
func fetchTables(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, which []int, readings []*reading) error {
	pipe := c.Pipeline()
	asked := make([]tableCommands, len(which))
	// The user has the right to the key, because its value was read. So a refusal here concerns the command.
	// "object|encoding" before 7.0 is "object".
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
	sent, got, err := exec(ctx, pipe)
	if err != nil {
		return err
	}
	var small []int
	for n, i := range which {
		a := &asked[n]
		refusals.Note("type", a.typ.Err())
		refusals.Note("object|encoding", a.packing.Err())
		refusals.Note("hlen", a.size[0].Err())
		refusals.Note("zcard", a.size[1].Err())
		typ, _ := a.typ.Text()
		if typ == "string" {
			continue // it was no table a moment ago
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

// fetchFields replaces the readings of small tables. A table that is written during the read, or that we have no right
// to read, keeps its reading.
func fetchFields(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, which []int, readings []*reading) error {
	pipe := c.Pipeline()
	values := make(map[int]redis.Cmder)
	ttls := make(map[int][2]*redis.DurationCmd)
	for _, i := range which {
		name, command := questions[i].name, "zrange"
		if readings[i].typ == "hash" {
			command = "hgetall"
		}
		if refusals.Refused(command) != nil {
			continue
		}
		before := pipe.PTTL(ctx, name)
		values[i] = readTable(ctx, pipe, name, lockformat.Type(readings[i].typ))
		ttls[i] = [2]*redis.DurationCmd{before, pipe.PTTL(ctx, name)}
	}
	if len(ttls) == 0 {
		return nil
	}
	sent, got, err := exec(ctx, pipe)
	if err != nil {
		return err
	}
	for i, ttl := range ttls {
		content, err := decode(values[i]), values[i].Err()
		r := &reading{shape: table, typ: readings[i].typ, ttl: ttl[1].Val(), sent: sent, got: got}
		r.fields, r.members = content.Fields, content.Members
		refusals.Note(values[i].Name(), err)
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

// readTable reads a hash or a sorted set as a whole.
func readTable(ctx context.Context, c redis.Cmdable, key string, typ lockformat.Type) redis.Cmder {
	if typ == lockformat.Hash {
		return c.HGetAll(ctx, key)
	}
	return c.ZRangeWithScores(ctx, key, 0, -1)
}

// listTypes maps commands that answer with a list to the type that they read. The map never changes.
var listTypes = map[string]lockformat.Type{
	"lrange": lockformat.List, "hrandfield": lockformat.Hash, "zrange": lockformat.SortedSet,
}

// decode returns the content that a command has read.
func decode(answer redis.Cmder) *lockformat.Content {
	c := new(lockformat.Content)
	switch answer := answer.(type) {
	case *redis.StringCmd:
		c.Type, c.Text, c.Size = lockformat.String, []byte(answer.Val()), len(answer.Val())
	case *redis.MapStringStringCmd:
		c.Type, c.Fields = lockformat.Hash, answer.Val()
	case *redis.StringSliceCmd:
		c.Type = listTypes[answer.Name()]
		for _, text := range answer.Val() {
			c.Members = append(c.Members, lockformat.Member{Text: text})
		}
	case *redis.ZSliceCmd:
		c.Type = lockformat.SortedSet
		for _, z := range answer.Val() {
			text, _ := z.Member.(string)
			c.Members = append(c.Members, lockformat.Member{Text: text, Score: z.Score})
		}
	}
	return c
}
