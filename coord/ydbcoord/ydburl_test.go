package ydbcoord_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/coord/ydbcoord"
)

func TestURLsAreRead(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]ydbcoord.ClientOptions{
		"grpc://localhost:2136/local":                    {Address: "localhost:2136", Database: "/local"},
		"GRPC://localhost/local/":                        {Address: "localhost:2136", Database: "/local"},
		"grpc://h:1/?database=/a/b":                      {Address: "h:1", Database: "/a/b"},
		"grpc://h:1?database=a/b":                        {Address: "h:1", Database: "/a/b"},
		"grpc://h/l?node=/l/app":                         {Address: "h:2136", Database: "/l", Node: "/l/app"},
		"grpc://h/l?node=app%20x&discovery=off":          {Address: "h:2136", Database: "/l", Node: "app x", NoDiscovery: true},
		"grpc://h/l?discovery=on&access_token=t%26":      {Address: "h:2136", Database: "/l", AccessToken: "t&"},
		"grpc://u%40x:p%2Fw@[::1]:7/l":                   {Address: "[::1]:7", Database: "/l", User: "u@x", Password: "p/w"},
		"grpcs://h/l":                                    {Address: "h:2135", Database: "/l", TLSFiles: &certs.Files{}},
		"grpcs://h/l?ca=/a&cert=/b&key=/c&server_name=n": {Address: "h:2135", Database: "/l", TLSFiles: &certs.Files{CA: "/a", Cert: "/b", Key: "/c", ServerName: "n"}},
		"grpc://h/with%20blank":                          {Address: "h:2136", Database: "/with blank"},
	} {
		if got, err := ydbcoord.ParseURL(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", raw, got, err, want)
		}
	}
}

func TestBadURLsAreRefusedWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "h:1/l", "http://h/l", "grpc://h", "grpc:///l", "grpc://h:x/l", "grpc://h:0/l", "grpc://h:70000/l", "grpc://a,b/l",
		"grpc://[::1/l", "grpc://[x]/l", "grpc://::1/l", "grpc://h/l#f", "grpc://h/l x", "grpc://h/%zz", "grpc://h/%ff", "grpc://h/a?database=b",
		"grpc://h/l?node=%zz", "grpc://h/l?discovery=maybe", "grpc://h/l?ca=/x", "grpc://h/l?unknown=secret", "grpc://:secret@h/l",
		"grpc://u:sec%zzret@h/l", "grpc://u:secret/x@h/l", "grpc://u:secret@h/l?access_token=secret", "grpc://%zz:secret@h/l", "grpc://\xff/l",
	} {
		_, err := ydbcoord.ParseURL(raw)
		if !errors.Is(err, coord.ErrInvalid) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), coord.ErrInvalid.Error()) {
			t.Errorf("%q: %v, want ErrInvalid without its text and without secrets", raw, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{"grpc://u:p@h:1/l?node=/l/n&discovery=off", "grpcs://[::1]:2135/l?ca=x", "grpc://h?database=l", "grpc://%00@h/l"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		o, err := ydbcoord.ParseURL(raw)
		if err != nil {
			if !errors.Is(err, coord.ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		if o.Address == "" || !strings.HasPrefix(o.Database, "/") {
			t.Errorf("read as %+v", o)
		}
	})
}
