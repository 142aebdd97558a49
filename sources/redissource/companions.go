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
	answers := make(map[int][]companionAnswer)
	for i, r := range readings {
		if r == nil || r.shape != text && r.shape != table {
			continue
		}
		f := lockformat.Find(questions[i].name, r.content(), questions[i].kind)
		if f == nil {
			continue
		}
		for _, companion := range f.Companions(questions[i].name) {
			if refusals.Refused(right(companion.Ask)) != nil {
				answers[i] = append(answers[i], companionAnswer{})
				continue
			}
			answers[i] = append(answers[i], companionAnswer{companion.Ask, askCompanion(ctx, pipe, companion)})
		}
	}
	if len(answers) == 0 {
		return nil
	}
	if err := exec(ctx, pipe); err != nil {
		return err
	}
	for i, list := range answers {
		for _, a := range list {
			var content lockformat.Content
			if a.read != nil {
				var err error
				content, err = a.read()
				if refusals.Note(right(a.ask), err); err != nil {
					content = lockformat.Content{}
				}
			}
			readings[i].beside = append(readings[i].beside, content)
		}
	}
	return nil
}

// companionAnswer reads what the server answered about a companion; read is nil where it was not
// asked.
type companionAnswer struct {
	ask  lockformat.Ask
	read func() (lockformat.Content, error)
}

// right is what a refusal to read such companions is remembered by.
func right(ask lockformat.Ask) string { return fmt.Sprintf("companion %d", ask) }

func askCompanion(ctx context.Context, pipe redis.Pipeliner, c lockformat.Companion) func() (lockformat.Content, error) {
	switch c.Ask {
	case lockformat.AskList:
		list, size := pipe.LRange(ctx, c.Key, 0, mostBeside-1), pipe.LLen(ctx, c.Key)
		return func() (lockformat.Content, error) {
			var members []lockformat.Member
			for _, text := range list.Val() {
				members = append(members, lockformat.Member{Text: text})
			}
			return lockformat.Content{Type: lockformat.List, Size: int(size.Val()), Members: members}, list.Err()
		}
	case lockformat.AskSortedSet:
		list, size := pipe.ZRangeWithScores(ctx, c.Key, 0, mostBeside-1), pipe.ZCard(ctx, c.Key)
		return func() (lockformat.Content, error) {
			return lockformat.Content{Type: lockformat.SortedSet, Size: int(size.Val()), Members: membersOf(list.Val())}, list.Err()
		}
	case lockformat.AskSubscribers:
		counts := pipe.PubSubNumSub(ctx, c.Key)
		return func() (lockformat.Content, error) {
			return lockformat.Content{Type: lockformat.List, Size: int(counts.Val()[c.Key])}, counts.Err()
		}
	}
	var value *redis.StringCmd
	if c.Ask == lockformat.AskField {
		value = pipe.HGet(ctx, c.Key, c.Field)
	} else {
		value = pipe.GetRange(ctx, c.Key, 0, peekBytes-1)
	}
	return func() (lockformat.Content, error) {
		text := []byte(value.Val())
		return lockformat.Content{Type: lockformat.String, Text: text, Size: len(text)}, value.Err()
	}
}
