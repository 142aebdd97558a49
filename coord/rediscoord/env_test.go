package rediscoord_test

import (
	"reflect"
	"strings"
	"testing"

	"coordtop/coord/rediscoord"
	"coordtop/internal/certs"
)

func TestFromEnvFindsWhatTheirsFindsAndMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		env    string // NAME=value, separated by spaces
		want   rediscoord.ClientOptions
		prefix string
	}{
		{"a host", "REDIS_HOST=h", rediscoord.ClientOptions{Addrs: []string{"h:6379"}}, "app"},
		{"field by field", "REDIS_HOST=h REDIS_PORT=1 REDIS_PREFIX=p MUTEX_REDIS_HOST=m",
			rediscoord.ClientOptions{Addrs: []string{"m:1"}}, "p"},
		{"an empty prefix counts", "REDIS_HOST=h REDIS_PREFIX=p MUTEX_REDIS_PREFIX=",
			rediscoord.ClientOptions{Addrs: []string{"h:6379"}}, ""},
		{"a general sentinel wins over a specific host", "REDIS_SENTINEL_HOST=s REDIS_SENTINEL_NAME=n MUTEX_REDIS_HOST=m",
			rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Addrs: []string{"s:26379"}, Master: "n"}, "app"},
		{"a sentinel's port", "REDIS_SENTINEL_HOST=s REDIS_SENTINEL_NAME=n REDIS_SENTINEL_PORT=7 REDIS_PORT=8",
			rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Addrs: []string{"s:7"}, Master: "n"}, "app"},
		{"IPv6", "REDIS_HOST=::1", rediscoord.ClientOptions{Addrs: []string{"[::1]:6379"}}, "app"},
		{"login and DB", "REDIS_HOST=h REDIS_USER=u MUTEX_REDIS_PASSWORD=pw REDIS_DB=3 REDIS_SENTINEL_USER=su REDIS_SENTINEL_PASSWORD=sp",
			rediscoord.ClientOptions{Addrs: []string{"h:6379"}, User: "u", Password: "pw", DB: 3, SentinelUser: "su", SentinelPassword: "sp"}, "app"},
		{"TLS", "REDIS_HOST=h REDIS_TLS=true", rediscoord.ClientOptions{Addrs: []string{"h:6379"}, TLS: &certs.Files{}}, "app"},
		{"TLS by its details", "REDIS_HOST=h REDIS_TLS_CA=a REDIS_TLS_CERT=c REDIS_TLS_KEY=k REDIS_TLS_SERVER_NAME=s",
			rediscoord.ClientOptions{Addrs: []string{"h:6379"}, TLS: &certs.Files{CA: "a", Cert: "c", Key: "k", ServerName: "s"}}, "app"},
		{"TLS turned off", "REDIS_HOST=h REDIS_TLS_CA=a REDIS_TLS=0", rediscoord.ClientOptions{Addrs: []string{"h:6379"}}, "app"},
	} {
		got, prefix, err := rediscoord.FromEnv(lookup(c.env))
		if err != nil || !reflect.DeepEqual(got, c.want) || prefix != c.prefix {
			t.Errorf("%s: %v %+v, prefix %q (%v), want %v, prefix %q", c.name, got, got.TLS, prefix, err, c.want, c.prefix)
		}
	}
}

func TestFromEnvSaysWhatIsWrongWithoutTheValue(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"REDIS_PORT=1":                         "REDIS_HOST",
		"REDIS_HOST=h REDIS_PORT=hunter2":      "REDIS_PORT",
		"REDIS_HOST=h REDIS_DB=hunter2":        "REDIS_DB",
		"REDIS_HOST=h REDIS_TLS=hunter2":       "REDIS_TLS",
		"REDIS_SENTINEL_HOST=hunter2":          "master",
		"REDIS_HOST=h MUTEX_REDIS_DB=-hunter2": "REDIS_DB",
	} {
		_, _, err := rediscoord.FromEnv(lookup(env))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want an error about %s without the value", env, err, want)
		}
	}
}

func lookup(env string) func(string) (string, bool) {
	vars := map[string]string{}
	for pair := range strings.FieldsSeq(env) {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}
