package redissource

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources/redissource/lockformat"
)

// mostBeside is the maximum number of members of a companion that are read.
const mostBeside = 100

// fetchCompanions reads the keys that some libraries keep beside a lock: waiters, a fence, or free permits. They are
// not read at the same instant as the lock. It does not repeat a refused command.
func fetchCompanions(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, readings []*reading) error {
	pipe := c.Pipeline()
	var reads []func()
	for i, r := range readings {
		if r == nil || r.shape != text && r.shape != table || questions[i].known != 0 && questions[i].known == r.checksum() {
			continue
		}
		if f := lockformat.Find(questions[i].name, r.content(), questions[i].kind); f != nil {
			for _, companion := range f.Companions(questions[i].name) {
				content := askCompanion(ctx, pipe, refusals, companion)
				reads = append(reads, func() { r.beside = append(r.beside, content()) })
			}
		}
	}
	if len(reads) == 0 {
		return nil
	}
	if _, _, err := exec(ctx, pipe); err != nil {
		return err
	}
	for _, read := range reads {
		read()
	}
	return nil
}

// askCompanion adds the commands for a companion to pipe, and returns a function that returns their answer after pipe
// was executed. For a refused command the answer is an empty Content.
func askCompanion(ctx context.Context, pipe redis.Pipeliner, refusals *rediscoord.Refusals, c lockformat.Companion) func() lockformat.Content {
	right := fmt.Sprintf("companion %d", c.Ask)
	if refusals.Refused(right) != nil {
		return func() lockformat.Content { return lockformat.Content{} }
	}
	var answer redis.Cmder
	var subscribers *redis.MapStringIntCmd
	var size *redis.IntCmd
	switch c.Ask {
	case lockformat.AskList:
		answer, size = pipe.LRange(ctx, c.Key, 0, mostBeside-1), pipe.LLen(ctx, c.Key)
	case lockformat.AskSortedSet:
		answer, size = pipe.ZRangeWithScores(ctx, c.Key, 0, mostBeside-1), pipe.ZCard(ctx, c.Key)
	case lockformat.AskSubscribers:
		subscribers = pipe.PubSubNumSub(ctx, c.Key)
		answer = subscribers
	case lockformat.AskField:
		answer = pipe.HGet(ctx, c.Key, c.Field)
	default:
		answer = pipe.GetRange(ctx, c.Key, 0, mostPeeked-1)
	}
	return func() lockformat.Content {
		if refusals.Note(right, answer.Err()); answer.Err() != nil {
			return lockformat.Content{}
		}
		content := decode(answer)
		if size != nil {
			content.Size = int(size.Val())
		}
		if subscribers != nil {
			content.Type, content.Size = lockformat.List, int(subscribers.Val()[c.Key])
		}
		return *content
	}
}
