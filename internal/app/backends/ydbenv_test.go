package backends

import (
	"reflect"
	"testing"

	"coordtop/coord/ydbcoord"
)

// Two places know what YDB's variables mean: ydbcoord.FromEnv for programs that use the
// library, config.Backends.FromEnv for the board, which keeps secrets where they are.
func TestTheVariablesOfYDBMeanWhatTheLibraryTakesThemFor(t *testing.T) {
	t.Parallel()
	const (
		at, anonymous  = "YDB_CONNECTION_STRING", "YDB_ANONYMOUS_CREDENTIALS"
		token          = "YDB_ACCESS_TOKEN_CREDENTIALS"
		user, password = "YDB_STATIC_CREDENTIALS_USER", "YDB_STATIC_CREDENTIALS_PASSWORD"
		ca             = "YDB_SSL_ROOT_CERTIFICATES_FILE"
	)
	type vars map[string]string
	for _, env := range []vars{
		{at: "grpc://h/l"},
		{at: "grpc://h/l", token: "t", user: "u", password: "p"},
		{at: "grpc://h/l", user: "u", password: "p"},
		{at: "grpc://h/l", user: "u"},
		{at: "grpc://h/l", password: "p"},
		{at: "grpc://h/l", anonymous: "1", token: "t", user: "u", password: "p"},
		{at: "grpc://h/l", anonymous: "0", token: "t"},
		{at: "grpc://me@h/l", token: "t"},
		{at: "grpc://me@h/l", user: "u", password: "p"},
		{at: "grpc://me:mine@h/l", user: "u", password: "p"},
		{at: "grpc://h/l?access_token=mine", token: "t"},
		{at: "grpc://h/l?access_token=mine", user: "u", password: "p"},
		{at: "grpc://h/l", ca: "/ca"},
		{at: "grpcs://h/l", ca: "/ca"},
		{at: "GRPCS://h/l", ca: "/ca"},
		{at: "grpcs://h/l?ca=/mine", ca: "/ca"},
		{at: "grpcs://h/l?cert=/c&key=/k", ca: "/ca"},
		{at: "grpcs://h?ca=&database=/alpaca%3Dca=", ca: "/ca"},
		{at: "grpcs://h/l", ca: ""},
	} {
		lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
		want, wantErr := ydbcoord.FromEnv(lookup)
		c, err := Config().FromEnv(lookup)
		if err == nil {
			var got ydbcoord.ClientOptions
			secret, _ := c.Sources[0].Secret().Resolve(t.Context(), lookup)
			if got, err = ydbClient(c.Sources[0], secret, nil); err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%v: the board takes it for %+v (TLS %+v), the library for %+v (TLS %+v)", env, got, got.TLS, want, want.TLS)
			}
		}
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%v: the board says %v, the library %v", env, err, wantErr)
		}
	}
}
