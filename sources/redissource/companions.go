package redissource

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources/redissource/lockformat"
)

// mostBeside bounds how many members of a companion are read.
const mostBeside = 100

// fetchCompanions reads what stands beside the locks of some libraries: who waits, a fence, the
// permits that are free. It is not read at one instant with the lock. What is refused once is
// not asked for again.
func fetchCompanions(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals, questions []question, readings []*reading) error {
	pipe := c.Pipeline()
	answers := make(map[int][]func() lockformat.Content)
	for i, r := range readings {
		if r == nil || r.shape != text && r.shape != table || questions[i].known != 0 && questions[i].known == r.checksum() {
			continue
		}
		if f := lockformat.Find(questions[i].name, r.content(), questions[i].kind); f != nil {
			for _, companion := range f.Companions(questions[i].name) {
				answers[i] = append(answers[i], askCompanion(ctx, pipe, refusals, companion))
			}
		}
	}
	if len(answers) == 0 {
		return nil
	}
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	for i, list := range answers {
		for _, content := range list {
			readings[i].beside = append(readings[i].beside, content())
		}
	}
	return nil
}

// askCompanion returns what reads the answer: nothing where the server refused it.
func askCompanion(ctx context.Context, pipe redis.Pipeliner, refusals *rediscoord.Refusals, c lockformat.Companion) func() lockformat.Content {
	right := fmt.Sprintf("companion %d", c.Ask)
	granted := func(content lockformat.Content, err error) lockformat.Content {
		if refusals.Note(right, err); err != nil {
			return lockformat.Content{}
		}
		return content
	}
	if refusals.Refused(right) != nil {
		return func() lockformat.Content { return lockformat.Content{} }
	}
	switch c.Ask {
	case lockformat.AskList:
		list, size := pipe.LRange(ctx, c.Key, 0, mostBeside-1), pipe.LLen(ctx, c.Key)
		return func() lockformat.Content {
			var members []lockformat.Member
			for _, text := range list.Val() {
				members = append(members, lockformat.Member{Text: text})
			}
			return granted(lockformat.Content{Type: lockformat.List, Size: int(size.Val()), Members: members}, list.Err())
		}
	case lockformat.AskSortedSet:
		list, size := pipe.ZRangeWithScores(ctx, c.Key, 0, mostBeside-1), pipe.ZCard(ctx, c.Key)
		return func() lockformat.Content {
			return granted(lockformat.Content{Type: lockformat.SortedSet, Size: int(size.Val()), Members: membersOf(list.Val())}, list.Err())
		}
	case lockformat.AskSubscribers:
		counts := pipe.PubSubNumSub(ctx, c.Key)
		return func() lockformat.Content {
			return granted(lockformat.Content{Type: lockformat.List, Size: int(counts.Val()[c.Key])}, counts.Err())
		}
	}
	var value *redis.StringCmd
	if c.Ask == lockformat.AskField {
		value = pipe.HGet(ctx, c.Key, c.Field)
	} else {
		value = pipe.GetRange(ctx, c.Key, 0, mostPeeked-1)
	}
	return func() lockformat.Content {
		text := []byte(value.Val())
		return granted(lockformat.Content{Type: lockformat.String, Text: text, Size: len(text)}, value.Err())
	}
}
