package redissource

import (
	"context"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// Removal is for rediscoord.Options.Removal: it reads a key to see which library's lock it is. Of a
// lock that no library is known to have written, what belongs to the owner is removed.
func Removal(ctx context.Context, c redis.Cmdable, key, typ string, kind sources.Kind) (rediscoord.Removal, error) {
	content, fits, err := contentOf(ctx, c, key, lockformat.Type(typ))
	if !fits || err != nil {
		return rediscoord.Removal{}, err
	}
	if format := lockformat.Find(key, content, kind); format != nil {
		return format.Release.Removal(key, content), nil
	}
	return rediscoord.RemovalOf(typ), nil
}

// contentOf reads a key of that type. fits is false where it is larger than a lock.
func contentOf(ctx context.Context, c redis.Cmdable, key string, typ lockformat.Type) (content *lockformat.Content, fits bool, err error) {
	content = &lockformat.Content{Type: typ}
	ask, most := c.StrLen, int64(sources.BlobHead)
	switch typ {
	case lockformat.Hash:
		ask, most = c.HLen, mostFields
	case lockformat.SortedSet:
		ask, most = c.ZCard, mostFields
	}
	if n, err := ask(ctx, key).Result(); err != nil || n > most {
		return nil, false, err
	} else {
		content.Size = int(n)
	}
	switch typ {
	case lockformat.String:
		content.Text, err = c.GetRange(ctx, key, 0, most-1).Bytes()
	case lockformat.Hash:
		content.Fields, err = c.HGetAll(ctx, key).Result()
	case lockformat.SortedSet:
		var members []redis.Z
		members, err = c.ZRangeWithScores(ctx, key, 0, -1).Result()
		content.Members = membersOf(members)
	}
	return content, true, err
}

// Unchecked says when the release that the old owner of a lock of that program itself still sends
// may free the next owner: "unless safeUpdate is on". "": it compares, or that is not known of the
// program.
func Unchecked(program string) string { return lockformat.Unchecked(program) }
