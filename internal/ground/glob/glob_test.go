package glob_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"coordtop/internal/ground/glob"
	"coordtop/internal/localserver"
)

func TestPatternMatchesWhatRedisMatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"**", "", false}, {"**a", "bba", true},
		{"app:leader:*", "app:leader:", true}, {"app:leader:*", "app:leader:x", true}, {"app:leader:*", "app:lead", false},
		{"*:leader:*", "x:leader:y", true}, {"*:leader:*", "leader:y", false}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"[a-c]x", "bx", true}, {"[c-a]x", "bx", true}, {"[^a-c]x", "bx", false}, {"[^a-c]x", "zx", true},
		{`[\]]`, "]", true}, {"[ab", "a", true}, {`\*`, "*", true}, {`\*`, "x", false}, {`a\`, `a\`, true},
		{"*a*b*c", "xxaxxbxxc", true}, {"*a*b*c", "xxaxxcxxb", false},
	}
	for _, tt := range tests {
		if got := glob.Pattern(tt.pattern).Match(tt.name); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.pattern, tt.name, got)
		}
	}
}

func TestPatternAgreesWithRedis(t *testing.T) {
	t.Parallel()
	o, err := redis.ParseURL(localserver.RedisForTest(t, localserver.RedisOptions{}).URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	word := rapid.StringOfN(rapid.SampledFrom([]rune(`ab-*?[]^\:`)), 0, 8, -1)
	rapid.Check(t, func(rt *rapid.T) {
		pattern, name := word.Draw(rt, "pattern"), word.Draw(rt, "name")
		set := client.Set(t.Context(), name, "1", 0).Err()
		names, err := client.Keys(t.Context(), pattern).Result()
		if err = errors.Join(set, err, client.Del(t.Context(), name).Err()); err != nil {
			rt.Fatal(err)
		}
		if theirs := len(names) > 0; glob.Pattern(pattern).Match(name) != theirs {
			rt.Fatalf("the server says %v", theirs)
		}
		if !glob.Pattern(glob.Escape(name)).Match(name) {
			rt.Fatalf("%q does not match the name it was made from", glob.Escape(name))
		}
		if prefix, exact := glob.Pattern(pattern).Literal(); glob.Pattern(pattern).Match(name) && (!strings.HasPrefix(name, prefix) || exact && name != prefix) {
			rt.Fatalf("the literal part is %q, exact %v", prefix, exact)
		}
	})
}
