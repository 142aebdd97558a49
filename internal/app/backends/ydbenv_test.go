package backends

import "testing"

func TestTheVariablesOfYDBMeanWhatItsToolsTakeThemFor(t *testing.T) {
	t.Parallel()
	const (
		at, anonymous  = "YDB_CONNECTION_STRING", "YDB_ANONYMOUS_CREDENTIALS"
		token          = "YDB_ACCESS_TOKEN_CREDENTIALS"
		user, password = "YDB_STATIC_CREDENTIALS_USER", "YDB_STATIC_CREDENTIALS_PASSWORD"
		ca             = "YDB_SSL_ROOT_CERTIFICATES_FILE"
	)
	type vars map[string]string
	type want struct{ user, password, token, ca string }
	for _, tt := range []struct {
		env  vars
		want want
	}{
		{vars{at: "grpc://h/l"}, want{}},
		{vars{at: "grpc://h/l", token: "t", user: "u", password: "p"}, want{token: "t"}},
		{vars{at: "grpc://h/l", user: "u", password: "p"}, want{user: "u", password: "p"}},
		{vars{at: "grpc://h/l", user: "u"}, want{user: "u"}},
		{vars{at: "grpc://h/l", password: "p"}, want{}},
		{vars{at: "grpc://h/l", anonymous: "1", token: "t", user: "u", password: "p"}, want{}},
		{vars{at: "grpc://h/l", anonymous: "0", token: "t"}, want{token: "t"}},
		{vars{at: "grpc://me@h/l", token: "t"}, want{user: "me"}},
		{vars{at: "grpc://me@h/l", user: "u", password: "p"}, want{user: "me"}},
		{vars{at: "grpc://me:mine@h/l", user: "u", password: "p"}, want{user: "me", password: "mine"}},
		{vars{at: "grpc://h/l?access_token=mine", token: "t"}, want{token: "mine"}},
		{vars{at: "grpc://h/l?access_token=mine", user: "u", password: "p"}, want{token: "mine"}},
		{vars{at: "grpc://h/l", ca: "/ca"}, want{}},
		{vars{at: "grpcs://h/l", ca: "/ca"}, want{ca: "/ca"}},
		{vars{at: "GRPCS://h/l", ca: "/ca"}, want{ca: "/ca"}},
		{vars{at: "grpcs://h/l?ca=/mine", ca: "/ca"}, want{ca: "/mine"}},
		{vars{at: "grpcs://h/l?cert=/c&key=/k", ca: "/ca"}, want{ca: "/ca"}},
		{vars{at: "grpcs://h?ca=&database=/alpaca%3Dca=", ca: "/ca"}, want{ca: "/ca"}},
		{vars{at: "grpcs://h/l", ca: ""}, want{}},
	} {
		lookup := func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }
		c, err := Config().FromEnv(lookup)
		if err != nil {
			t.Errorf("%v: %v", tt.env, err)
			continue
		}
		secret, _ := c.Sources[0].Secret().Resolve(t.Context(), lookup)
		o, err := ydbClient(c.Sources[0], secret, nil)
		got := want{user: o.User, password: o.Password, token: o.AccessToken}
		if o.TLSFiles != nil {
			got.ca = o.TLSFiles.CA
		}
		if err != nil || got != tt.want {
			t.Errorf("%v: taken for %+v, %v, want %+v", tt.env, got, err, tt.want)
		}
	}
}
