package rediscoord

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// LeaderKey returns the key for which LeaderService of dk-server-foundation campaigns with a prefix and a key of its
// own: prefix:leader:key.
func LeaderKey(prefix, key string) string { return prefix + ":leader:" + key }

// MutexKey returns the key that withMutex of dk-server-foundation locks in its mode redis: the prefix and the parts of
// its key, separated by colons.
func MutexKey(prefix string, parts ...string) string {
	return strings.Join(append([]string{prefix}, parts...), ":")
}

// FromEnvironment returns the address to which LeaderService of dk-server-foundation connects: one Sentinel at
// MUTEX_REDIS_SENTINEL_HOST and _PORT that knows the master MUTEX_REDIS_SENTINEL_NAME; without it the server at
// MUTEX_REDIS_HOST and _PORT. For each variable that is not set, the same name without MUTEX_ counts, so that a global
// REDIS_SENTINEL_HOST wins over MUTEX_REDIS_HOST. The database is 0, without login and TLS, because there are no
// variables for these. lookup is a function such as os.LookupEnv. An error names variables and repeats no value.
//
// This was read in src/helpers/redis/redis.ts and src/app/config.ts of dk-server-foundation (d459f21). It is not sure
// that an empty MUTEX_ variable hides the other one there, as it does here, and the usual ports are those of its client
// ioredis.
func FromEnvironment(lookup func(name string) (value string, ok bool)) (ClientOptions, error) {
	get := func(name string) string {
		value, _ := fromEnvironment(lookup, name)
		return value
	}
	o, host, port, usual := ClientOptions{}, get("HOST"), "PORT", "6379"
	if sentinel := get("SENTINEL_HOST"); sentinel != "" {
		o.Topology, o.Master = Sentinel, get("SENTINEL_NAME")
		host, port, usual = sentinel, "SENTINEL_PORT", "26379"
	}
	number := cmp.Or(get(port), usual)
	switch _, err := strconv.ParseUint(number, 10, 16); {
	case host == "":
		return o, errors.New("no server: set MUTEX_REDIS_HOST, REDIS_HOST, MUTEX_REDIS_SENTINEL_HOST or REDIS_SENTINEL_HOST")
	case err != nil:
		return o, fmt.Errorf("a bad port in MUTEX_REDIS_%[1]s or REDIS_%[1]s: it is a number up to 65535", port)
	case o.Topology == Sentinel && o.Master == "":
		return o, errors.New("no name of a master for the Sentinel: set MUTEX_REDIS_SENTINEL_NAME or REDIS_SENTINEL_NAME")
	}
	o.Addrs = []string{net.JoinHostPort(host, number)}
	return o, nil
}

// PrefixFromEnvironment returns the prefix that LeaderService reads: MUTEX_REDIS_PREFIX, else REDIS_PREFIX, which may
// be empty. If ok is false, neither is set; LeaderService then takes the name in the package.json of its working
// folder, else "app".
func PrefixFromEnvironment(lookup func(name string) (value string, ok bool)) (prefix string, ok bool) {
	return fromEnvironment(lookup, "PREFIX")
}

func fromEnvironment(lookup func(string) (string, bool), name string) (value string, ok bool) {
	if value, ok = lookup("MUTEX_REDIS_" + name); ok {
		return value, true
	}
	return lookup("REDIS_" + name)
}
