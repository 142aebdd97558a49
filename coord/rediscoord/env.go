package rediscoord

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"coordtop/internal/certs"
)

// FromEnv reads the environment that dk-server-foundation reads, so that a candidate of
// ours started in theirs finds the same server and the same keys (src/helpers/redis/
// redis.ts there). Each variable is looked up as MUTEX_REDIS_<X>, else as REDIS_<X>:
//
//	HOST, PORT (6379)
//	SENTINEL_HOST, SENTINEL_PORT (26379), SENTINEL_NAME: if the host is set it wins
//	PREFIX: what keys begin with; "app" if it is not set, empty if it is set to that
//
// and, which theirs lack,
//
//	USER, PASSWORD, DB, SENTINEL_USER, SENTINEL_PASSWORD
//	TLS (true or false), TLS_CA, TLS_CERT, TLS_KEY, TLS_SERVER_NAME
//
// As there, each variable is chosen by itself: a REDIS_SENTINEL_HOST wins over a
// MUTEX_REDIS_HOST. Theirs falls back to the name in the working directory's package.json
// before "app"; ours does not: set PREFIX. lookup is os.LookupEnv or a test's. No error
// repeats a value.
func FromEnv(lookup func(string) (string, bool)) (o ClientOptions, prefix string, err error) {
	e := environment{lookup}
	if o, err = e.options(); err != nil {
		return ClientOptions{}, "", fmt.Errorf("reading the environment: %w", err)
	}
	prefix, ok := e.find("PREFIX")
	if !ok {
		prefix = "app"
	}
	return o, prefix, nil
}

type environment struct{ lookup func(string) (string, bool) }

// find looks the specific name up, then the general one.
func (e environment) find(name string) (string, bool) {
	if v, ok := e.lookup("MUTEX_REDIS_" + name); ok {
		return v, true
	}
	return e.lookup("REDIS_" + name)
}

// text is "" for a variable that is not set.
func (e environment) text(name string) string {
	v, _ := e.find(name)
	return v
}

func (e environment) options() (ClientOptions, error) {
	o := ClientOptions{
		User:             e.text("USER"),
		Password:         e.text("PASSWORD"),
		SentinelUser:     e.text("SENTINEL_USER"),
		SentinelPassword: e.text("SENTINEL_PASSWORD"),
	}
	host, port, ordinary := e.text("SENTINEL_HOST"), "SENTINEL_PORT", "26379"
	if host != "" {
		o.Topology, o.Master = Sentinel, e.text("SENTINEL_NAME")
	} else if host, port, ordinary = e.text("HOST"), "PORT", "6379"; host == "" {
		return o, errors.New("neither REDIS_HOST nor REDIS_SENTINEL_HOST is set")
	}
	if text := e.text(port); text != "" {
		ordinary = text
		if n, err := strconv.ParseUint(text, 10, 16); err != nil || n == 0 {
			return o, fmt.Errorf("REDIS_%s: it is a number from 1 to 65535", port)
		}
	}
	o.Addrs = []string{net.JoinHostPort(strings.Trim(host, "[]"), ordinary)}
	if text := e.text("DB"); text != "" {
		if err := o.setDB(text); err != nil {
			return o, fmt.Errorf("REDIS_DB: %w", err)
		}
	}
	if err := e.tls(&o); err != nil {
		return o, err
	}
	return o, o.check()
}

// tls encrypts if TLS says so, or if one of its details is given.
func (e environment) tls(o *ClientOptions) error {
	t := certs.Files{
		CA:         e.text("TLS_CA"),
		Cert:       e.text("TLS_CERT"),
		Key:        e.text("TLS_KEY"),
		ServerName: e.text("TLS_SERVER_NAME"),
	}
	on := t != certs.Files{}
	if text := e.text("TLS"); text != "" {
		var err error
		if on, err = strconv.ParseBool(text); err != nil {
			return errors.New("REDIS_TLS: it is true or false")
		}
	}
	if on {
		o.TLS = &t
	}
	return nil
}
