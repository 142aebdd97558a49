package rediscoord_test

import (
	"reflect"
	"strings"
	"testing"

	"coordtop/coord/rediscoord"
)

// environment is a lookup in variables such as "REDIS_HOST=h REDIS_PORT=1".
func environment(variables string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for v := range strings.FieldsSeq(variables) {
			if key, value, _ := strings.Cut(v, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

func TestVariablesOfLeaderServiceNameItsServer(t *testing.T) {
	t.Parallel()
	for variables, want := range map[string]rediscoord.ClientOptions{
		"REDIS_HOST=h": {Addrs: []string{"h:6379"}},
		"REDIS_HOST=h REDIS_PORT=1 MUTEX_REDIS_HOST=m":                   {Addrs: []string{"m:1"}},
		"REDIS_HOST=::1 MUTEX_REDIS_PORT=2":                              {Addrs: []string{"[::1]:2"}},
		"REDIS_SENTINEL_HOST=s REDIS_SENTINEL_NAME=n MUTEX_REDIS_HOST=m": {Topology: rediscoord.Sentinel, Addrs: []string{"s:26379"}, Master: "n"},
		"MUTEX_REDIS_SENTINEL_HOST=s MUTEX_REDIS_SENTINEL_PORT=3 REDIS_SENTINEL_NAME=n REDIS_PORT=x": {
			Topology: rediscoord.Sentinel, Addrs: []string{"s:3"}, Master: "n"},
		"REDIS_SENTINEL_HOST=s MUTEX_REDIS_SENTINEL_HOST= REDIS_HOST=h": {Addrs: []string{"h:6379"}},
	} {
		if got, err := rediscoord.FromEnvironment(environment(variables)); err != nil || !reflect.DeepEqual(got, want) || got.Check() != nil {
			t.Errorf("%s: %+v, %v, want %+v", variables, got, err, want)
		}
	}
	for variables, want := range map[string]string{
		"":                                      "no server: set MUTEX_REDIS_HOST",
		"REDIS_HOST=h REDIS_PORT=tcp://hunter2": "a bad port in MUTEX_REDIS_PORT or REDIS_PORT",
		"REDIS_SENTINEL_HOST=s":                 "set MUTEX_REDIS_SENTINEL_NAME",
	} {
		if _, err := rediscoord.FromEnvironment(environment(variables)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %s", variables, err, want)
		}
	}
}

func TestKeysOfLeaderServiceBeginWithItsPrefix(t *testing.T) {
	t.Parallel()
	for variables, want := range map[string]string{
		"MUTEX_REDIS_PREFIX=m REDIS_PREFIX=r": "m:leader:billing", "REDIS_PREFIX=r": "r:leader:billing", "REDIS_PREFIX=r MUTEX_REDIS_PREFIX=": ":leader:billing",
	} {
		prefix, ok := rediscoord.PrefixFromEnvironment(environment(variables))
		if got := rediscoord.LeaderKey(prefix, "billing"); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", variables, got, ok, want)
		}
	}
	if prefix, ok := rediscoord.PrefixFromEnvironment(environment("REDIS_HOST=h")); ok {
		t.Errorf("the prefix %q from nowhere", prefix)
	}
	if got := rediscoord.MutexKey("app", "job", "7"); got != "app:job:7" {
		t.Errorf("the key of a mutex is %q", got)
	}
}
