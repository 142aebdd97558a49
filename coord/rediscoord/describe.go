package rediscoord

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"coordtop/coord"
)

// longestLook bounds the bytes of a value that are read, because the value of another program may be huge.
const longestLook = len(uuid.UUID{})*2 + 4 + 1 + maxData

// Describe implements coord.Describer. A key that does not exist has no owners. It cuts data of another program at the
// maximum length that this driver writes.
func (s *session) Describe(ctx context.Context, kind coord.Kind, name string) (coord.Description, error) {
	d := coord.Description{Kind: kind, Name: name, Limit: 1}
	if err := s.driver.checkClaim(coord.Claim{Kind: kind, Name: name}); err != nil {
		return d, fmt.Errorf("describing: %w", err)
	}
	ctx, leave, err := s.Enter(ctx)
	if err != nil {
		return d, fmt.Errorf("describing: %w", err)
	}
	defer leave()
	v, err := s.read(ctx, name)
	// If a string reads empty, the key has just expired or the value is empty. The second read shows which.
	if err == nil && v.kind == "string" && len(v.raw) == 0 {
		v, err = s.read(ctx, name)
	}
	if err != nil {
		return d, fmt.Errorf("describing: %w", err)
	}
	switch v.kind {
	case "none":
	case "string":
		parsed := OwnerOf(v.raw)
		d.Taken = 1
		d.Owners = []coord.Owner{{ID: parsed.ID, Permits: 1, Data: parsed.Data}}
	default:
		return d, fmt.Errorf("describing: the key holds a %s: %w", v.kind, coord.ErrRefused)
	}
	return d, nil
}

// stored is the type and value of a key.
type stored struct {
	kind string // Redis's word for the type; "none" if there is no such key
	raw  []byte
}

// read reads the type and the value of a key.
func (s *session) read(ctx context.Context, key string) (stored, error) {
	return ask(ctx, s, longestCall, func(ctx context.Context) (stored, error) {
		var kind *redis.StatusCmd
		var value *redis.StringCmd
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			kind, value = p.Type(ctx, key), p.GetRange(ctx, key, 0, int64(longestLook)-1)
			return nil
		})
		if err != nil && !isWrongType(err) {
			return stored{}, classify(err)
		}
		return stored{kind: kind.Val(), raw: []byte(value.Val())}, nil
	})
}
