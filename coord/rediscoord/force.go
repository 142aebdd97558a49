package rediscoord

import (
	"cmp"
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/ground/spawn"
)

// Part is the part of a key that belongs to one owner.
type Part string

const (
	// WholeKey is a whole string. Its guard is Guard of the value.
	WholeKey Part = "key"
	// Field is a field of a hash. Its guard is FieldGuard of the field and its value.
	Field Part = "field"
	// Returned is a field of a hash that a release returns to the list in Beside. Its guard is FieldGuard.
	Returned Part = "returned"
	// Members are the members of a sorted set that belong to one owner. Their guard is MemberGuard of the member, or of
	// the UUID before _ and a number.
	Members Part = "member"
	// Permit is a member of the sorted set in Beside; the key itself is a string that counts the free permits. Its
	// guard is MemberGuard of the member.
	Permit Part = "permit"
)

// Removal describes how a forced release of one owner changes the key and wakes waiters.
type Removal struct {
	Part Part
	// Beside is a second key: the sorted set that contains a Permit, the list to which a Returned field is returned, or
	// the list of waiters for a Field. "": none.
	Beside string
	// Channel is the Pub/Sub channel to which the number of free permits is published. For a Field, ":" and a waiter
	// from Beside are appended, because each waiter has its own channel. "": none.
	Channel string
	// After are commands that wake waiters, sent when no owner is left.
	After [][]string
}

// RemovalOf returns the Removal for a key of that type, as Redis names it, if nothing else is known about the lock. It
// returns the zero Removal if such a key is no lock.
func RemovalOf(typ string) Removal {
	return Removal{Part: map[string]Part{"string": WholeKey, "hash": Field, "zset": Members}[typ]}
}

// ForceRelease implements coord.ForceReleaser. Foreign.Name is the whole key, and Guard is the one that the source
// shows. ForceRelease reads the key to find out its kind of lock; then one script compares, releases and wakes waiters
// as Options.Removal describes. It returns coord.ErrChanged if the owner, the data or the type has changed, or the key
// is gone.
func (d *Driver) ForceRelease(ctx context.Context, f coord.Foreign) error {
	switch {
	case f.Waiting:
		return fmt.Errorf("ending a wait: Redis keeps no queue: %w", coord.ErrUnsupported)
	case f.Guard == "":
		return fmt.Errorf("releasing by force: nothing to compare: %w", coord.ErrInvalid)
	}
	client, err := connect(ctx, d.client)
	if err != nil {
		return err
	}
	defer client.Close()
	defer spawn.OnDone(ctx, func() { client.Close() })()
	removal, sure, err := d.removal(ctx, client, f)
	if err != nil {
		return fmt.Errorf("releasing by force: %w", err)
	}
	beside := cmp.Or(removal.Beside, f.Name)
	args := []any{string(removal.Part), f.Guard, max(f.Permits, 1), removal.Channel}
	for _, command := range removal.After {
		args = append(args, len(command))
		for _, word := range command {
			args = append(args, word)
		}
	}
	n, err := run(ctx, client, forceScript, []string{f.Name, beside}, args...)
	switch {
	case err == nil && n == 1:
		return nil
	case err == nil && n == 2:
		return fmt.Errorf("releasing by force: it was done in part, and a right is missing for the rest: %w", coord.ErrUncertain)
	case !sure && (err == nil || isWrongType(err)):
		return fmt.Errorf("releasing by force: without the right TYPE only a string is found: %w", coord.ErrRefused)
	case err == nil:
		return fmt.Errorf("releasing by force: it is not as it was seen: %w", coord.ErrChanged)
	case isWrongType(err):
		return fmt.Errorf("releasing by force: the key has another type now: %w", coord.ErrChanged)
	case answered(err), unsent(err):
		return fmt.Errorf("releasing by force: %w", err)
	}
	return fmt.Errorf("releasing by force: %w: %w", coord.ErrUncertain, err)
}

// removal reads the key. sure is false if the right TYPE is missing: then the key is treated as a string, because a
// string can be released without that right.
func (d *Driver) removal(ctx context.Context, client redis.UniversalClient, f coord.Foreign) (r Removal, sure bool, err error) {
	typ, err := client.Type(ctx, f.Name).Result()
	sure = !redis.IsPermissionError(err)
	switch {
	case !sure:
		typ = "string"
	case err != nil:
		return r, sure, classify(err)
	case typ == "none":
		return r, sure, fmt.Errorf("the key is gone: %w", coord.ErrChanged)
	case RemovalOf(typ).Part == "":
		return r, sure, fmt.Errorf("the key holds a %s now: %w", typ, coord.ErrChanged)
	}
	if d.options.Removal == nil {
		return RemovalOf(typ), sure, nil
	}
	r, err = d.options.Removal(ctx, client, f.Name, typ, f.Kind)
	switch wrong := isWrongType(err); {
	case wrong && !sure:
		return r, sure, fmt.Errorf("without the right TYPE only a string is found: %w", coord.ErrRefused)
	case redis.IsPermissionError(err) && !sure:
		return RemovalOf(typ), sure, nil
	case wrong, err == nil && r.Part == "":
		return r, sure, fmt.Errorf("the key holds something else now: %w", coord.ErrChanged)
	}
	return r, sure, classify(err)
}

var _ coord.ForceReleaser = (*Driver)(nil)
