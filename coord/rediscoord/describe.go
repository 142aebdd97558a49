package rediscoord

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"coordtop/coord"
)

// longestLook is how much of a value is read: a stranger's may be huge, ours never is.
const longestLook = len(uuid.UUID{})*2 + 4 + 1 + maxData

// Describe implements coord.Describer. A key that does not exist has no owners. The data
// of a stranger's value is cut where ours would end. A fence is the counter's state: it
// belongs to the owner only where all owners use the counter.
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
	key := s.driver.options.keyOf(kind, name)
	v, err := s.read(ctx, key)
	// A string that reads empty has just run out, or is empty: the second read shows which.
	if err == nil && v.kind == "string" && len(v.raw) == 0 {
		v, err = s.read(ctx, key)
	}
	if err != nil {
		return d, fmt.Errorf("describing: %w", err)
	}
	switch v.kind {
	case "none":
	case "string":
		parsed := OwnerOf(v.raw)
		d.Taken = 1
		d.Owners = []coord.Owner{{ID: parsed.ID, Permits: 1, Fence: v.fence, Data: parsed.Data}}
	default:
		return d, fmt.Errorf("describing: the key holds a %s: %w", v.kind, coord.ErrRefused)
	}
	return d, nil
}

// stored is what a key holds.
type stored struct {
	kind  string // Redis's word for the type; "none": there is no such key
	raw   []byte
	fence uint64
}

// read asks for type and value, and with fences for the counter of the same instant.
func (s *session) read(ctx context.Context, key string) (stored, error) {
	return ask(ctx, s, longestCall, func(ctx context.Context) (stored, error) { return s.readNow(ctx, key) })
}

func (s *session) readNow(ctx context.Context, key string) (stored, error) {
	pipelined, fence := s.client.Pipelined, s.driver.options.fenceOf(key)
	if fence != "" {
		pipelined = s.client.TxPipelined
	}
	var kind *redis.StatusCmd
	var value *redis.StringCmd
	var counter *redis.StringCmd
	_, err := pipelined(ctx, func(p redis.Pipeliner) error {
		kind, value = p.Type(ctx, key), p.GetRange(ctx, key, 0, int64(longestLook)-1)
		if fence != "" {
			counter = p.Get(ctx, fence)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) && !isWrongType(err) {
		return stored{}, classify(err)
	}
	v := stored{kind: kind.Val(), raw: []byte(value.Val())}
	if counter != nil && v.kind == "string" {
		// A counter that is missing or no number gives no fence.
		v.fence, _ = counter.Uint64()
	}
	return v, nil
}
