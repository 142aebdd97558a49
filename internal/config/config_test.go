package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"coordtop/coord/certs"
	"coordtop/internal/app/backends"
	. "coordtop/internal/config"
	"coordtop/sources"
)

const example = "../../config.example.yaml"

func noEnv(string) (string, bool) { return "", false }

func env(pairs map[string]string) Lookup {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

func TestExampleLoadsWithoutAProblem(t *testing.T) {
	t.Parallel()
	c, err := load(t, example, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sources) != 4 || c.Title != "prod-eu" || c.Color != "red" || len(c.Owners) != 1 {
		t.Fatalf("the example does not say what it says: %+v", c)
	}
	s := c.Sources[0]
	want := Source{
		Name: "leases", Type: "redis", URL: "rediss://leases.example:6380/0", Address: "rediss://leases.example:6380/0",
		User: "coordtop", TLS: certs.Files{ServerName: "leases.internal"},
		Watch:   []Watch{{Kind: sources.KindElection, Pattern: "app:leader:*", Expected: true}, {Kind: sources.KindMutex, Pattern: "app:lock:*"}},
		Legible: []*regexp.Regexp{regexp.MustCompile("^agent=([^;]+);")},
		Protect: true, Labels: []sources.Attr{{Key: "env", Value: "prod"}}, PollMin: 250 * time.Millisecond, PollMax: 5 * time.Second, Forget: time.Hour,
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	want = Source{
		Name: "ledger-db", Type: "postgres", URL: "postgres://coordtop@db1.example,db2.example/ledger",
		Address: "postgres://db1.example,db2.example/ledger", Channels: []string{"ledger_events"}, Scheme: "hashtextextended",
		Watch: []Watch{{Kind: sources.KindElection, Pattern: "4242", Expected: true}, {Kind: sources.KindMutex, Pattern: "17:-4"}, {Kind: sources.KindMutex, Pattern: "month-end"}},
	}
	if s := c.Sources[1]; !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	want = Source{
		Name: "jobs", Type: "ydb", URL: "grpcs://ydb.example:2135/prod", Address: "grpcs://ydb.example:2135/prod",
		Nodes: []string{"/prod/other"},
		Watch: []Watch{{Kind: sources.KindElection, Pattern: "primary", Expected: true, Node: "/prod/app"}, {Kind: sources.KindSemaphore, Pattern: "connections", Node: "/prod/app"},
			{Kind: sources.KindMutex, Pattern: "nightly-export"}},
	}
	if s := c.Sources[2]; !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	if got := c.Names["ledger-db"]["17:-4"]; got != "ledger/compactor" {
		t.Errorf("17:-4 is named %q", got)
	}
	if got := c.Owners.Label("host-07:4411"); got != "host-07" {
		t.Errorf("the owner rule gives %q", got)
	}
}

// TestExampleShowsEveryKey takes the comment mark off the alternatives, so that a key
// that stands in the example only as prose does not count.
func TestExampleShowsEveryKey(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keysOf(reflect.TypeFor[File]()) {
		if !regexp.MustCompile(`(?m)^[ #-]*`+key+`: |^[ #-]*`+key+`:$`).Match(data) && !strings.Contains(string(data), "{ "+key+":") {
			t.Errorf("config.example.yaml does not show the key %q", key)
		}
	}
}

func TestExampleAlternativesAreValidToo(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, alternative := range []string{
		"# password_env:", "# password_file:", "# password_command:", "# ca:", "# cert: # key:", "# - semaphore:", "# - keys:", "# token_env:", "# token_file:",
		"# clients_unprotected: # allow_recreate: # names: off",
		"# - semaphore: job-", "# - semaphores_file:",
	} {
		text := string(data)
		for mark := range strings.SplitSeq(alternative, "# ") {
			if mark = strings.TrimSpace(mark); mark == "" {
				continue
			}
			if !strings.Contains(text, "# "+mark) {
				t.Fatalf("%q is not in the example", mark)
			}
			text = strings.Replace(text, "# "+mark, mark, 1)
		}
		if _, err := parse(t, []byte(text), example, noEnv); err != nil {
			t.Errorf("with %s: %v", alternative, err)
		}
	}
}

func keysOf(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return keysOf(t.Elem())
	case reflect.Struct:
		var keys []string
		for i := range t.NumField() {
			keys = append(keys, t.Field(i).Tag.Get("yaml"))
			keys = append(keys, keysOf(t.Field(i).Type)...)
		}
		return keys
	}
	return nil
}

func TestEveryProblemIsReportedAtOnceWithItsPlace(t *testing.T) {
	t.Parallel()
	const text = `titel: prod
color: rot
identity: "{user}|{pod}"
sources:
  - name: a
    url: redis://:hunter2@h:6379/0
    password_env: X
    password_file: y
    read_only: yes
    poll: {min: 250, max: 1s}
  - name: a
    url: http://h
    watch:
      - {election: "x", mutex: "y"}
      - {leader: x}
  - url: redis://h
    token_env: T
    tls: {ca: f, cert: c}
    labels: [a]
    name: b
    name: b2
  - name: c
  - name: p
    url: postgres://u:hunter2@h/db?sslmode=disable
    watch:
      - semaphore: "4242"
    channels: [ev, ""]
    tls: {ca: f}
  - name: r
    url: redis://r
    channels: [ev]
    key_scheme: crc32
  - url: postgres://h/db?channels=
  - name: y
    url: grpc://u@h/local?access_token=hunter2
    token_env: T
    token_file: t
    tls: {ca: f}
    channels: [ev]
    watch:
      - {node: /local/app, expected: true}
      - {node: "/", election: x}
      - {node: /local/app, election: x, mutex: y}
  - {url: "grpc://h/local", token_file: t, password_env: P}
  - {url: "grpc://h/local", user: u, token_file: t}
  - {url: "grpc://h/local", password_env: P}
  - {url: "grpc://h/local", token_file: ""}
  - {url: "redis://q", token_file: t, watch: [{node: n, mutex: x}], allow_recreate: true}
  - {url: "grpc://q/local", forget: 1h, password_command: pass}
names:
  nobody: {"1": x}
  r: {"1": x}
owners:
  - {match: "(", label: l}
  - {label: l}
`
	_, err := parse(t, []byte(text), "/etc/c.yaml", noEnv)
	var p *Problems
	if !errors.As(err, &p) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		"/etc/c.yaml:1:1: titel: unknown key: did you mean title?",
		"/etc/c.yaml:2:8: color: must be one of red, green",
		"/etc/c.yaml:3:11: identity: only {user}, {host} and {pid} can stand in braces",
		"/etc/c.yaml:6:10: sources[0].url: holds a password: take it out and say where it is with password_env",
		"/etc/c.yaml:8:20: sources[0].password_file: password_env is there too: keep one",
		"/etc/c.yaml:9:16: sources[0].read_only: must be true or false",
		"/etc/c.yaml:10:17: sources[0].poll.min: must be a length of time with its unit",
		"/etc/c.yaml:11:11: sources[1].name: sources[0] has this name too",
		`/etc/c.yaml:12:10: sources[1].url: unknown scheme "http": write redis`,
		"/etc/c.yaml:14:9: sources[1].watch[0]: must have one of election, mutex, semaphore, keys",
		"/etc/c.yaml:15:9: sources[1].watch[1]: must have one of",
		"/etc/c.yaml:15:10: sources[1].watch[1]: unknown key; known here: keys, election, mutex, semaphore, semaphores_file, node, expected",
		"/etc/c.yaml:17:16: sources[2].token_env: only for YDB",
		"/etc/c.yaml:18:10: sources[2].tls: cert and key belong together",
		"/etc/c.yaml:18:10: sources[2].tls: the url is not encrypted: write it as rediss://",
		"/etc/c.yaml:19:13: sources[2].labels: must be names with values",
		"/etc/c.yaml:21:5: sources[2].name: given twice",
		"/etc/c.yaml:22:5: sources[3].url: missing: where the server is",
		"/etc/c.yaml:24:10: sources[4].url: holds a password",
		"/etc/c.yaml:26:20: sources[4].watch[0].semaphore: Postgres has no semaphores: write election or mutex",
		"/etc/c.yaml:27:20: sources[4].channels[1]: is empty",
		"/etc/c.yaml:28:10: sources[4].tls: the url says sslmode=disable",
		"/etc/c.yaml:31:15: sources[5].channels: only for Postgres",
		"/etc/c.yaml:32:17: sources[5].key_scheme: only for Postgres",
		"/etc/c.yaml:33:10: sources[6].url: channels= is empty",
		"/etc/c.yaml:35:10: sources[7].url: holds a password: take it out and say where it is with password_env, password_file, password_command, token_env or token_file",
		"/etc/c.yaml:37:17: sources[7].token_file: token_env is there too: keep one",
		"/etc/c.yaml:38:10: sources[7].tls: the url is not encrypted: write it as grpcs://",
		"/etc/c.yaml:39:15: sources[7].channels: only for Postgres",
		"/etc/c.yaml:41:9: sources[7].watch[0]: must have one of election, mutex, semaphore, keys",
		"/etc/c.yaml:42:16: sources[7].watch[1].node: is empty: write the path of a coordination node, as /local/app",
		"/etc/c.yaml:43:9: sources[7].watch[2]: must have one of",
		"/etc/c.yaml:44:41: sources[8].token_file: there is a password too: keep one",
		"/etc/c.yaml:45:50: sources[9].token_file: there is a user too",
		"/etc/c.yaml:46:5: sources[10].user: missing: whose password is it",
		"/etc/c.yaml:47:41: sources[11].token_file: is empty",
		"/etc/c.yaml:48:36: sources[12].token_file: only for YDB; write password_file",
		"/etc/c.yaml:48:54: sources[12].watch[0].node: only for YDB",
		"/etc/c.yaml:48:85: sources[12].allow_recreate: only for YDB",
		"/etc/c.yaml:49:37: sources[13].forget: YDB takes none",
		"/etc/c.yaml:49:59: sources[13].password_command: must be a list",
		"/etc/c.yaml:51:11: an entry of names: no source has this name",
		"/etc/c.yaml:52:6: an entry of names: only locks of Postgres are numbers",
		"/etc/c.yaml:54:13: owners[0].match: not a regular expression",
		"/etc/c.yaml:55:5: owners[1].match: missing",
	}
	got := strings.Split(err.Error(), "\n")
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if w == "" || !strings.HasPrefix(g, w) {
			t.Errorf("line %d:\n got %s\nwant %s", i, g, w)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("the password is in the error")
	}
}

func TestWhatIsNotYAMLIsAProblemWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"sources: [", "c.yaml:1:10: not YAML: "},
		{"a: b: c", "c.yaml:1:"},
		{"title: x\nsources:\n\t- url: redis://h", "c.yaml:3:1: not YAML: a tab stands before the text"},
		{"- a", "c.yaml:1:1: must be keys with values"},
		{"", "c.yaml: sources: no sources"},
		{"# only a comment\n", "c.yaml: sources: no sources"},
		{"title: x\n---\ntitle: y\n", "a second document"},
		{"title: *nobody", "c.yaml:1:8: title: no anchor"},
		{"title: &a *a", "c.yaml:1:11: not YAML"},
		{"? [a]\n: b", "not YAML"},
		{"title: \"a\\u001b[2J\"", "c.yaml:1:8: title: must be printable"},
		{"<<: {title: x}", "<< is not supported"},
		{"sources: [{url: 'redis://h', forget: -5s}]", "sources[0].forget: must be a length of time"},
		{"sources: [{url: 'redis://h', password_command: ''}]", "must be a list"},
		{"sources: [{url: 'redis://h', password_env: ''}]", "password_env: is empty"},
		{"sources: [{url: 'redis://h', poll: {min: 5s, max: 1s}}]", "poll.min: is longer than max"},
		{"sources: [{url: 'redis+sentinel://h/m?sentinel_password=hunter2'}]", "sources[0].url: holds a password"},
		{"sources: [{url: 'redis://u@h', user: v}]", "user: the url names another user"},
		{"owners: [{match: x}]\nsources: [{url: 'redis://h'}]", "owners[0].label: missing"},
	} {
		_, err := parse(t, []byte(c.text), "c.yaml", noEnv)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestAnchorsAndPlainScalarsAreUnderstood(t *testing.T) {
	t.Parallel()
	c, err := parse(t, []byte(`title: 42
sources:
  - url: rediss://a
    tls: &t {ca: ~/ca.pem}
    labels: {env: true, n: 1.50}
    password_command: [pass, show, 7]
  - {url: rediss://b, tls: *t, name: !!str b}
`), "/etc/coordtop/config.yaml", env(map[string]string{"HOME": "/home/me"}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Title != "42" || c.Sources[1].TLS.CA != "/home/me/ca.pem" || c.Sources[1].Name != "b" || c.Sources[0].Name != "a" {
		t.Errorf("got %+v", c)
	}
	if want := []sources.Attr{{Key: "env", Value: "true"}, {Key: "n", Value: "1.50"}}; !reflect.DeepEqual(c.Sources[0].Labels, want) {
		t.Errorf("labels %v, want %v", c.Sources[0].Labels, want)
	}
	if want := []string{"pass", "show", "7"}; !reflect.DeepEqual(c.Sources[0].Password.Command, want) {
		t.Errorf("command %v, want %v", c.Sources[0].Password.Command, want)
	}
}

func TestTheConfigIsLookedForWhereItShouldBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want string
		must bool
	}{
		{map[string]string{"COORDTOP_CONFIG": "x.yaml", "HOME": "/h"}, "x.yaml", true},
		{map[string]string{"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/coordtop/config.yaml", false},
		{map[string]string{"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/coordtop/config.yaml", false},
		{map[string]string{"HOME": "/h"}, "/h/.config/coordtop/config.yaml", false},
		{nil, "", false},
	} {
		if path, must := Locate(env(c.env)); path != c.want || must != c.must {
			t.Errorf("%v: got %q, %v", c.env, path, must)
		}
	}
}

func TestAFileThatIsNotThereOrTooLongIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := load(t, filepath.Join(dir, "none.yaml"), noEnv); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	long := filepath.Join(dir, "long.yaml")
	if err := os.WriteFile(long, make([]byte, MaxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, long, noEnv); err == nil || !strings.Contains(err.Error(), "longer than 256 kB") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile(example)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("sources: [{url: 'redis://:p@h'}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("sources:\n- <<: *x\n  url: |\n    redis://h\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := backends.Config().Parse(data, "c.yaml", noEnv)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error that says nothing")
			}
			return
		}
		if len(c.Sources) == 0 {
			t.Fatal("a config without sources was accepted")
		}
		names := map[string]bool{}
		for _, s := range c.Sources {
			if s.Name == "" || s.Type == "" || s.URL == "" || names[s.Name] {
				t.Fatalf("bad source %+v", s)
			}
			names[s.Name] = true
		}
	})
}
