package redissource

import (
	"context"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// Removal implements rediscoord.Options.Removal: it reads a key to find the library of the lock. Without
// a known library it removes the owner's part of the key.
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

// contentOf reads a key of that type. fits is false if the key is larger than a lock.
func contentOf(ctx context.Context, c redis.Cmdable, key string, typ lockformat.Type) (content *lockformat.Content, fits bool, err error) {
	ask, most := c.StrLen, int64(sources.BlobHead)
	switch typ {
	case lockformat.Hash:
		ask, most = c.HLen, mostFields
	case lockformat.SortedSet:
		ask, most = c.ZCard, mostFields
	}
	size, err := ask(ctx, key).Result()
	if err != nil || size > most {
		return nil, false, err
	}
	var answer redis.Cmder
	switch typ {
	case lockformat.String:
		answer = c.GetRange(ctx, key, 0, most-1)
	case lockformat.Hash, lockformat.SortedSet:
		answer = readTable(ctx, c, key, typ)
	default: // no lock, or the key is gone
		return &lockformat.Content{Type: typ, Size: int(size)}, true, nil
	}
	content = decode(answer)
	content.Size = int(size)
	return content, true, answer.Err()
}

// Unchecked returns the condition under which a late release by the old owner of that program's lock also ends the next
// ownership, for example "unless safeUpdate is on". It returns "" if the release compares or the program is unknown.
func Unchecked(program string) string { return lockformat.Unchecked(program) }
