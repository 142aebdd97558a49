package config_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"coordtop/internal/app/backends"
	. "coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/schematest"
)

// asJSON is a config as a program for JSON Schema reads it.
func asJSON(t *testing.T, text []byte) []byte {
	t.Helper()
	plain, _, wrong := PlainText(text)
	if wrong != "" {
		t.Fatal(wrong)
	}
	value, err := yaml.YAMLToJSON(plain)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// parse is Parse. What it takes, the schema must take.
func parse(t *testing.T, text []byte, path string, env Lookup) (Config, error) {
	t.Helper()
	c, err := backends.Config().Parse(text, path, env)
	if err == nil {
		if wrong := schematest.Compile(t, Schema()).CheckText(asJSON(t, text)); wrong != nil {
			t.Errorf("%.200s: %v", text, wrong)
		}
	}
	return c, err
}

// load is Load. What it takes, the schema must take.
func load(t *testing.T, path string, env Lookup) (Config, error) {
	t.Helper()
	c, err := backends.Config().Load(path, env)
	if err == nil {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = parse(t, data, path, env)
	}
	return c, err
}

func TestSchemaRefusesTheUsualMistakes(t *testing.T) {
	t.Parallel()
	s := schematest.Compile(t, Schema())
	const source = "sources: [{url: 'redis://h'}]\n"
	for text, at := range map[string]string{
		"title: x":                                                         "missing property 'sources'",
		"sources: []":                                                      "/sources",
		"sources: {url: 'redis://h'}":                                      "/sources",
		"sources: ['redis://h']":                                           "/sources/0",
		"sources: [{name: a}]":                                             "missing property 'url'",
		"sources: [{url: 'http://h'}]":                                     "/sources/0/url",
		"sources: [{url: 'redis://h', nam: a}]":                            "'nam' not allowed",
		source + "titel: prod":                                             "'titel' not allowed",
		source + "color: rot":                                              "/color",
		source + "owners: [{match: x}]":                                    "missing property 'label'",
		source + "names: {a: [x]}":                                         "/names/a",
		source + "agree: {a: b}":                                           "/agree",
		source + "agree: [a, [b, c]]":                                      "/agree",
		source + "keys: {no-such-action: [x]}":                             "invalid propertyName 'no-such-action'",
		source + "keys: {read-again: x}":                                   "/keys/read-again",
		source + "history: {off: yes}":                                     "/history/off",
		source + "history: {keep: 30}":                                     "/history/keep",
		source + "history: {size: 2}":                                      "/history/size",
		source + "history: {size: 0MB}":                                    "/history/size",
		source + "thresholds: {wait: 30}":                                  "/thresholds/wait",
		source + "thresholds: {gap: 0s}":                                   "/thresholds/gap",
		source + "thresholds: {gap: -5s}":                                  "/thresholds/gap",
		source + "thresholds: {late_left: 33}":                             "/thresholds/late_left",
		source + "thresholds: {late_left: 100%}":                           "/thresholds/late_left",
		source + "thresholds: {late_seen: 0}":                              "/thresholds/late_seen",
		source + "thresholds: {late_missed: 1.5}":                          "/thresholds/late_missed",
		"sources: [{url: 'redis://h', forget: 5}]":                         "/sources/0/forget",
		"sources: [{url: 'redis://h', poll: {min: 250, max: 1s}}]":         "/sources/0/poll/min",
		"sources: [{url: 'redis://h', read_only: yes}]":                    "/sources/0/read_only",
		"sources: [{url: 'redis://h', password_command: pass}]":            "/sources/0/password_command",
		"sources: [{url: 'redis://h', labels: [a]}]":                       "/sources/0/labels",
		"sources: [{url: 'redis://h', watch: ['app:*']}]":                  "/sources/0/watch/0",
		"sources: [{url: 'redis://h', watch: [{leader: x}]}]":              "'leader' not allowed",
		"sources: [{url: 'redis://h', channels: [ev]}]":                    "/sources/0/channels",
		"sources: [{url: 'redis://h', key_scheme: crc32}]":                 "/sources/0/key_scheme",
		"sources: [{url: 'redis://h', watch: [{node: /n, mutex: x}]}]":     "/sources/0/watch/0/node",
		"sources: [{url: 'postgres://h/d', watch: [{semaphore: '42'}]}]":   "/sources/0/watch/0/semaphore",
		"sources: [{url: 'postgres://h/d', key_scheme: md5}]":              "/sources/0/key_scheme",
		"sources: [{url: 'postgres://h/d', legible: [x]}]":                 "/sources/0/legible",
		"sources: [{url: 'grpc://h/d', forget: 1h}]":                       "/sources/0/forget",
		"sources: [{url: 'grpc://h/d', names: on}]":                        "/sources/0/names",
		"sources: [{url: 'rediss+sentinel://h/m', token_file: x}]":         "/sources/0/token_file",
		"sources: [{url: 'dflockd://h', allow_recreate: true}]":            "/sources/0/allow_recreate",
		"sources: [{url: 'redis://h'}, {url: 'grpc://h/d', forget: '1h'}]": "/sources/1/forget",
	} {
		if _, err := backends.Config().Parse([]byte(text), "c.yaml", noEnv); err == nil && !strings.Contains(text, "no-such-action") { // only the board knows
			t.Errorf("%s: Parse takes it", text)
		}
		if err := s.CheckText(asJSON(t, []byte(text))); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v, want %s", text, err, at)
		}
	}
}

// placesOf calls do with each place at which a config may have a value: with what puts it there. The url is of one source.
func placesOf(url string, do func(path string, put func(value any) (config any))) {
	var walk func(t reflect.Type, path string, put func(any) any)
	walk = func(t reflect.Type, path string, put func(any) any) {
		do(path, put)
		switch t.Kind() {
		case reflect.Slice:
			walk(t.Elem(), path+"[0]", func(v any) any { return put([]any{v}) })
		case reflect.Map:
			walk(t.Elem(), path+".x", func(v any) any { return put(map[string]any{"x": v}) })
		case reflect.Struct:
			for i := range t.NumField() {
				key := t.Field(i).Tag.Get("yaml")
				walk(t.Field(i).Type, path+"."+key, func(v any) any {
					beside := map[string]any{}
					switch { // what has to be there too
					case path == "":
						beside["sources"] = []any{map[string]any{"url": url}}
					case strings.HasSuffix(path, "sources[0]"):
						beside["url"] = url
					case strings.HasSuffix(path, "watch[0]"):
						beside["mutex"] = "x"
					case strings.HasSuffix(path, "owners[0]"):
						beside["match"], beside["label"] = "x", "y"
					}
					beside[key] = v
					return put(beside)
				})
			}
		}
	}
	walk(reflect.TypeFor[File](), "", func(v any) any { return v })
}

// TestSchemaAgreesWithParse puts values of all kinds at every place. The schema may refuse nothing that Parse
// takes, and must refuse what Parse refuses for the value or for the backend alone.
func TestSchemaAgreesWithParse(t *testing.T) {
	t.Parallel()
	s := schematest.Compile(t, Schema())
	alone := regexp.MustCompile(`must be (a text|a length|a part|a whole|a size|a list|keys with|names with|true or|longer than nothing|one of red)|unknown (key|scheme)|` +
		`not a URL|takes (this|none)|has no semaphores|no such key scheme|only off is taken`)
	values := []any{
		nil, "", "x", "5s", "1d12h", "0s", "0", "-5s", "33%", "100%", "2GB", "2GBMB", "off", "crc32", "red", "redis://h", "7", 7, 0, 7.5, -7, 1001, true,
		[]any{}, []any{"x"}, []any{7}, []any{nil}, []any{[]any{"x", "y"}}, []any{[]any{"x"}, "y"}, []any{map[string]any{}}, map[string]any{}, map[string]any{"x": "y"}, map[string]any{"x": []any{"y"}},
	}
	refusals, taken := 0, 0
	for _, b := range backends.Config() {
		placesOf(b.Schemes[0].Name+"://h/d", func(path string, put func(any) any) {
			if b.Type != "redis" && !strings.HasPrefix(path, ".sources[0].") {
				return
			}
			tried := values
			if b.Type != "redis" {
				tried = []any{nil, "x", "1h", "off", "crc32", 7, true, []any{"x"}} // which keys it takes
			}
			for _, v := range tried {
				config := put(v)
				text, err := json.Marshal(config)
				if err != nil {
					t.Fatal(err)
				}
				_, refused := backends.Config().Parse(text, "/c.yaml", noEnv)
				var whole any
				if err := json.Unmarshal(text, &whole); err != nil {
					t.Fatal(err)
				}
				wrong := s.Check(whole)
				switch word := strings.HasSuffix(path, ".color") || strings.HasSuffix(path, ".key_scheme"); {
				case refused == nil && wrong != nil && (!word || v != "") && !strings.HasPrefix(path, ".keys"): // only the board knows those
					t.Errorf("Parse takes %s: %v", text, wrong)
				case refused != nil && wrong == nil && alone.MatchString(refused.Error()):
					t.Errorf("the schema takes %s: %v", text, refused)
				case wrong != nil:
					refusals++
				default:
					taken++
				}
			}
		})
	}
	if refusals < 1000 || taken < 500 {
		t.Errorf("%d are refused and %d taken", refusals, taken)
	}
}

func TestSchemaDescribesKeysAsTheExampleDoes(t *testing.T) {
	t.Parallel()
	var s object
	if err := json.Unmarshal([]byte(Schema()), &s); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"title":                    "The environment: first in the header, so that nobody mistakes one for another.",
		"names":                    "Names for lock numbers",
		"sources/names":            "Names that were seen are remembered in the state folder",
		"sources/password_command": "a command that prints the password in one line within 10 s",
		"sources/password_env":     "Where the password is. One of these three at most; a file holds no secret. What is named here must",
		"sources/tls/ca":           "who may have signed",
		"sources/watch/expected":   "must always have an owner",
		"sources/watch/election":   "", // what is said of it is about YDB
		"sources/token_file":       "a file with the token, which others must not be able to read",
		"thresholds/full":          "no permit was free",
		"history/full":             "with url: what every moment can be replayed from",
	} {
		at := s
		for key := range strings.SplitSeq(path, "/") {
			if items, ok := at["items"].(object); ok {
				at = items
			}
			at = property(at, key)
		}
		if got, _ := at["description"].(string); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestEachLengthFitsItsPattern writes lengths of two parts in every way.
func TestEachLengthFitsItsPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(lengthPattern)
	numbers := []string{"", "0", "1", "+1", "-1", "01", "1.5", ".5", "5.", "1,5", "1e3", " 1", "0x1", "."}
	units := []string{"", "d", "h", "m", "s", "ms", "us", "µs", "μs", "ns", "w", "S", "min", "sec", " s"}
	var parts []string
	for _, n := range numbers {
		for _, u := range units {
			parts = append(parts, n+u)
		}
	}
	fit := 0
	for _, one := range parts {
		for _, two := range []string{"", "0", "1", "1h30m", "2d", "2d1h", "+5s", "-5s", ".5ms", "5.h", "x", " 1s"} {
			text := one + two
			switch _, ok := format.ParseLength(text); {
			case pattern.MatchString(text):
				fit++
				if !ok && !strings.ContainsAny(text, "d+") {
					t.Errorf("%q fits, and is no length", text)
				}
			case ok && !strings.Contains(text, "-") && !strings.HasSuffix(text, "d0"):
				t.Errorf("%q does not fit", text)
			}
		}
	}
	if fit < 300 {
		t.Errorf("only %d fit", fit)
	}
}
