package rediscoord_test

import (
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"coordtop/coord/certs"
	"coordtop/coord/rediscoord"
)

func TestParseURLReadsEveryForm(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]rediscoord.ClientOptions{
		"redis://h":                {Addrs: []string{"h:6379"}},
		"redis://h:7000/3":         {Addrs: []string{"h:7000"}, DB: 3},
		"REDIS://h/?db=4":          {Addrs: []string{"h:6379"}, DB: 4},
		"redis://[::1]:7000/":      {Addrs: []string{"[::1]:7000"}},
		"redis://[::1]":            {Addrs: []string{"[::1]:6379"}},
		"redis://u@h":              {Addrs: []string{"h:6379"}, User: "u"},
		"redis://:p%40%2F%3a:@h/1": {Addrs: []string{"h:6379"}, Password: "p@/::", DB: 1},
		"redis://u:a@b@h":          {Addrs: []string{"h:6379"}, User: "u", Password: "a@b"},
		"unix:///run/redis.sock":   {Addrs: []string{"/run/redis.sock"}},
		"UNIX://u:p%40@/run/a%2Bb.sock?db=2&protocol=2": {Addrs: []string{"/run/a+b.sock"}, User: "u", Password: "p@", DB: 2, Protocol: 2},
		"valkey://h/2":  {Addrs: []string{"h:6379"}, DB: 2},
		"VALKEYS://h:1": {Addrs: []string{"h:1"}, TLSFiles: &certs.Files{}},
		"rediss://h?ca=/a%20b&cert=c&key=k&server_name=s": {Addrs: []string{"h:6379"},
			TLSFiles: &certs.Files{CA: "/a b", Cert: "c", Key: "k", ServerName: "s"}},
		"redis+sentinel://a,b:1/main/2": {Topology: rediscoord.Sentinel, Addrs: []string{"a:26379", "b:1"}, Master: "main", DB: 2},
		"redis+sentinel://a/2?master=main&sentinel_user=su&sentinel_password=sp": {Topology: rediscoord.Sentinel,
			Addrs: []string{"a:26379"}, Master: "main", DB: 2, SentinelUser: "su", SentinelPassword: "sp"},
		"rediss+cluster://a:1,b:2": {Topology: rediscoord.Cluster, Addrs: []string{"a:1", "b:2"}, TLSFiles: &certs.Files{}},
		"redis://h?client_name=me&protocol=2&dial_timeout=1s&read_timeout=250ms": {Addrs: []string{"h:6379"},
			Name: "me", Protocol: 2, DialTimeout: time.Second, ReadTimeout: 250 * time.Millisecond},
	} {
		got, err := rediscoord.ParseURL(raw)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseURL(%q) is %v %+v (%v), want %+v", raw, got, got.TLSFiles, err, want)
		}
	}
}

func TestParseURLRefusesWithoutRepeatingSecrets(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "h:6379", "http://hunter2@h", "redis+other://:hunter2@h",
		"redis://", "redis://:hunter2@", "redis://:hunter2@h:0", "redis://:hunter2@h:65536", "redis://:hunter2@h:x",
		"redis://:hunter2@h/x", "redis://:hunter2@h/1/2", "redis://:hunter2@h/-1", "redis://:hunter2@h/99999999999",
		"redis://:hunter2@[::1", "redis://:hunter2@[x]:1", "redis://:hunter2@::1",
		"redis://:hunter2%zz@h", "redis://hunter2%zz@h", "redis://h?db=%zz", "redis://h/hunter2%zz",
		"redis://u:1/hunter2@h", "redis://u:1?hunter2@h", "redis://u:1#hunter2@h", "redis://u:hunter2 @h", "redis://u:1?hunter2=x@h",
		"redis://:hunter2@h?nosuch=hunter2", "redis://:hunter2@h?ca=hunter2", "redis://:hunter2@h?protocol=4",
		"unix://", "unix:///", "unix://hunter2/a.sock", "unix://:hunter2@a.sock", "unix://:hunter2@/a%20b.sock", "unix://:hunter2/x@/a.sock",
		"unix:///" + strings.Repeat("hunter2", 20), "unix:///a%zz", "unix:///a.sock?db=hunter2", "unix:///a.sock?ca=hunter2", "unix:///a.sock?master=hunter2",
		"redis://:hunter2@h?protocol=hunter2", "redis://:hunter2@h?read_timeout=hunter2", "redis://:hunter2@h?dial_timeout=-1s",
	} {
		o, err := rediscoord.ParseURL(raw)
		if err == nil {
			t.Errorf("ParseURL(%q) accepts it: %v", raw, o)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseURL(%q) repeats a secret: %v", raw, err)
		}
	}
}

func TestClientOptionsAreFormattedWithoutSecrets(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"rediss://user:hunter2@h/3":                                        "rediss://h:6379/3",
		"redis+sentinel://user:hunter2@a,b/main?sentinel_password=hunter2": "redis+sentinel://a:26379,b:26379/main/0",
		"unix://user:hunter2@/run/a.sock?db=3":                             "unix:///run/a.sock?db=3",
		"redis+cluster://user:hunter2@a":                                   "redis+cluster://a:6379/0",
	} {
		o, err := rediscoord.ParseURL(raw)
		noError(t, err)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(verb, o); got != want {
				t.Errorf("%s of %s is %q, want %q", verb, raw, got, want)
			}
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"redis://h", "rediss://u:secret-word@[::1]:1/2?ca=x", "redis+sentinel://a,b/m/1", "redis+cluster://a,b", "unix://u:secret-word@/a.sock?db=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		o, err := rediscoord.ParseURL(raw)
		if err != nil {
			_, rest, _ := strings.Cut(raw, "://")
			if i := strings.LastIndexByte(rest, '@'); i >= 0 {
				_, password, _ := strings.Cut(rest[:i], ":")
				// A short one may be part of our own words.
				if len(password) > 12 && strings.Contains(err.Error(), password) {
					t.Errorf("ParseURL(%q) repeats the password: %v", raw, err)
				}
			}
			return
		}
		for _, addr := range o.Addrs {
			if strings.HasPrefix(addr, "/") {
				continue
			}
			if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
				t.Errorf("ParseURL(%q) found the address %q: %v", raw, addr, err)
			}
		}
		if len(o.Addrs) == 0 {
			t.Errorf("ParseURL(%q) found no address", raw)
		}
	})
}
