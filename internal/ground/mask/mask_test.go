package mask_test

import (
	"strings"
	"testing"

	"coordtop/internal/ground/mask"
)

// secret is in every text of the tests that has one.
const secret = "TOPSECRET99"

func TestTextLosesItsSecrets(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"postgres://app:TOPSECRET99@db1:5432/x?a=b":                "postgres://app:***@db1:5432/x?a=b",
		"postgres://app:TOP@SECRET99/TOPSECRET99@db1/x":            "postgres://app:***@db1/x",
		"redis://TOPSECRET99@host":                                 "redis://***@host",
		"redis://:TOPSECRET99@host":                                "redis://:***@host",
		"grpc://u:TOPSECRET99:2136/local":                          "grpc://u:***",
		"moved to redis://u:TOPSECRET99":                           "moved to redis://u:***",
		"app:TOPSECRET99@host:6379":                                "app:***@host:6379",
		"u:123456789012TOPSECRET99@h":                              "u:***@h",
		"host=h user=u password=TOPSECRET99 dbname=d":              "host=h user=u password=*** dbname=d",
		"host=h password='it''s TOPSECRET99' dbname=d":             "host=h password='***' dbname=d",
		`host=h password='it\'s TOPSECRET99' dbname=d`:             `host=h password='***' dbname=d`,
		"PGPASSWORD=TOPSECRET99 psql":                              "PGPASSWORD=*** psql",
		`{"password":"TOPSECRET99","label":"w-1"}`:                 `{"password":"***","label":"w-1"}`,
		`{"password": "TOP\"SECRET99 TOPSECRET99", "label":"w-1"}`: `{"password": "***", "label":"w-1"}`,
		`{"a":"{\"password\":\"TOPSECRET99\",\"b\":1}"}`:           `{"a":"{\"password\":\"***\",\"b\":1}"}`,
		`{"db_password":12345678,"label":"w-1"}`:                   `{"db_password":***,"label":"w-1"}`,
		`{"secret":["TOPSECRET99","b"],"label":"w-1"}`:             `{"secret":***`,
		"api-key: TOPSECRET99 next":                                "api-key: *** next",
		"Authorization: Bearer TOPSECRET99":                        "Authorization: Bearer ***",
		"Authorization: Basic dTpUT1BTRUNSRVQ5OQ==":                "Authorization: Basic ***",
		"bearer TOPSECRET99":                                       "bearer ***",
		"password TOPSECRET99":                                     "password ***",
		"--password TOPSECRET99 --host h":                          "--password *** --host h",
		"<password>TOPSECRET99</password>":                         "<password>***",
		"aws_secret_access_key = TOPSECRET99":                      "aws_secret_access_key = ***",
		"https://h/x?access_token=TOPSECRET99":                     "https://h/x?access_token=***",
		"password: 'TOPSECRET99":                                   "password: '***",
		`host=h password=TOP\ TOPSECRET99 user=u`:                  "host=h password=*** user=u",
		"password: |-\n  TOPSECRET99\n":                            "password: ***",
		"DB_PASS=TOPSECRET99 DBPASS: TOPSECRET99":                  "DB_PASS=*** DBPASS: ***",
		`{"dbPass":"TOPSECRET99","redisAuth":"TOPSECRET99"}`:       `{"dbPass":"***","redisAuth":"***"}`,
		"root_pw=TOPSECRET99 redis_auth=TOPSECRET99":               "root_pw=*** redis_auth=***",
		`{"jwt":"TOPSECRET99","signature":"TOPSECRET99","pin":1}`:  `{"jwt":"***","signature":"***","pin":***}`,
		"AccountKey=TOPSECRET99 x":                                 "AccountKey=*** x",
		"https://h/hook?sig=TOPSECRET99":                           "https://h/hook?sig=***",
		`{"bearer":"TOPSECRET99"}`:                                 `{"bearer":"***"}`,
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.TOPSECRET99 worker":  "*** worker",
		"ghp_TOPSECRET99abcdef":                                    "***",
		"k\n-----BEGIN RSA PRIVATE KEY-----\nTOPSECRET99":          "k\n***",
	} {
		got := mask.Text(in)
		if got != want {
			t.Errorf("Text(%q) is %q, want %q", in, got, want)
		}
		if strings.Contains(got, "SECRET99") {
			t.Errorf("Text(%q) shows the secret: %q", in, got)
		}
	}
}

func TestTextWithoutSecretsStays(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "x", "host-3:4711 eu", "ana@desk:1", "shard 4 | eu", "http://[::1]:80/x", "https://status.example/page#b", "worker:4711@eu",
		"postgres://db1:5432,db2:5432/ledger", `{"label":"w-1","shard":4}`, "draining node 7", "4/12 done: 33 %", "passing", "tokenizer", "\x00\xff",
		"key=orders", "sign: 7", "author=ana", "spin: 3", "signal=9", "compass 4",
	} {
		if got := mask.Text(s); got != s {
			t.Errorf("Text(%q) is %q", s, got)
		}
	}
}

func TestQueryLosesItsLiterals(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"select pg_advisory_lock(4242)":                                "select pg_advisory_lock(4242)",
		"select pg_try_advisory_lock($1, $2)":                          "select pg_try_advisory_lock($1, $2)",
		"create user zz password 'TOPSECRET99'":                        "create user zz password ?",
		"alter role x with encrypted password 'a;TOPSECRET99'; end":    "alter role x with encrypted password ?",
		"set my.password = TOPSECRET99; select 1":                      "set my.password ?; select 1",
		"select 1 where password = 123456":                             "select 1 where password ?",
		"select 'it''s TOPSECRET99', 7":                                "select ?, 7",
		`select E'it\'s TOPSECRET99', 7`:                               "select ?, 7",
		`select e'it\\', 7, 'TOPSECRET99'`:                             "select ?, 7, ?",
		`select 'a\'TOPSECRET99', 7`:                                   "select ?",
		"select $$TOPSECRET99$$, $a$ $$ TOPSECRET99 $a$, 7":            "select ?, ?, 7",
		"select $a$TOPSECRET99":                                        "select ?",
		"select 1 -- redis://u:TOPSECRET99@h\n, 2":                     "select 1 --?\n, 2",
		"select /* a /* TOPSECRET99 */ TOPSECRET99 */ 1":               "select /*?*/ 1",
		"select /* TOPSECRET99":                                        "select /*?*/",
		"select 'TOPSECRET99":                                          "select ?",
		"select U&'TOPSECRET99', B'1010', name$x from \"a'b\"":         "select U&?, B?, name$x from \"a'b\"",
		"select 1$$TOPSECRET99$$":                                      "select 1?",
		`update u set "password" = 5 where id = 7`:                     `update u set "password" ?`,
		"listen x; notify x, 'TOPSECRET99'":                            "listen x; notify x, ?",
		"postgres://u:T0PS3CR3T99@h":                                   "postgres://u:***@h",
		"select pg_advisory_lock(hashtext('TOPSECRET99')), 17::int, é": "select pg_advisory_lock(hashtext(?)), 17::int, é",
		"set app.api_key to TOPSECRET99":                               "set app.api_key to ?",
		"SET app.token = TOPSECRET99; select 1":                        "SET app.token = ?; select 1",
		"select 1 where token = $1 and pg_try_advisory_lock(42)":       "select 1 where token = $? and pg_try_advisory_lock(42)",
		"select api_token = 12345":                                     "select api_token = ?",
	} {
		if got := mask.Query(in); got != want {
			t.Errorf("Query(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestQueryMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	const whole = `select 1, E'a\'TOPSECRET99', $tag$x TOPSECRET99$tag$ /* TOPSECRET99 */ -- TOPSECRET99` + "\n" + `, 'TOPSECRET99''TOPSECRET99' password 'TOPSECRET99'`
	for n := range len(whole) + 1 {
		if got := mask.Query(whole[:n]); strings.Contains(got, "TOP") {
			t.Errorf("Query(%q) is %q", whole[:n], got)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "redis://u:p@h", `{"password":"x"}`, "password='x", "://", "a:b@c", `token\"=\"x`, "pw=***"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		mask.Text(s)
		for _, whole := range []string{
			"redis://user:" + secret + "@host " + s, s + " password=" + secret, s + ` "password": "` + secret + `"`,
			s + " Bearer " + secret, s + " postgres://u:" + secret,
		} {
			if got := mask.Text(whole); strings.Contains(got, secret) && !strings.Contains(s, secret) {
				t.Errorf("Text(%q) is %q", whole, got)
			}
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "select 1", "'", "$a$", "--", "/*", `"`, "E'", "password", "$1", "é$$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := mask.Query(s)
		if again := mask.Query(got); strings.Count(again, "'") > strings.Count(got, "'") {
			t.Errorf("Query(%q) is %q", got, again)
		}
		quoted := strings.ReplaceAll(s, "'", "''")
		if strings.Contains(quoted, `\`) || strings.Contains(s, secret) {
			return
		}
		for _, whole := range []string{"select '" + quoted + secret + "', 1", "select 1 /* " + strings.NewReplacer("*/", "", "/*", "", "/", "", "*", "").Replace(s) + secret + " */"} {
			if got := mask.Query(whole); strings.Contains(got, secret) {
				t.Errorf("Query(%q) is %q", whole, got)
			}
		}
	})
}
