package config_test

import (
	"strings"
	"testing"
)

func TestOneMistakeOfASourceHidesNoOther(t *testing.T) {
	t.Parallel()
	const text = `sources:
  - name: a
    url: postgres://h/d?sslmode=maybe
    key_scheme: md5
    channels: [ev, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb]
    watch:
      - mutex: m
      - mutex: "99999999999999999999"
      - election: "1:99999999999"
  - url: postgres://b/d?locks=99999999999999999999
  - url: redis://c/x
  - url: grpc://d/l
    watch:
      - node: /` + "x\\x00" + `
  - url: redis://e
    watch: [{keys: "app:[a"}, {election: app:leader:*}]
  - url: dflockd://f
    watch: [{mutex: "a b"}, {keys: "x\\"}]
names:
  b: {"17:-4": fine, month-end: x}
owners:
  - {}
thresholds: {flap_within: 2h, wait: 1h}
`
	_, err := parse(t, []byte(text), "/etc/c.yaml", noEnv)
	if err == nil {
		t.Fatal("no problem")
	}
	want := []string{
		"/etc/c.yaml:3:10: sources[0].url: parameter 1 behind the ?: sslmode= takes ",
		"/etc/c.yaml:4:17: sources[0].key_scheme: no such key scheme",
		"/etc/c.yaml:5:20: sources[0].channels[1]: invalid options: the channel's name has 65 bytes",
		"/etc/c.yaml:8:16: sources[0].watch[1].mutex: selecting locks: ",
		"/etc/c.yaml:9:19: sources[0].watch[2].election: selecting locks: ",
		"/etc/c.yaml:10:10: sources[1].url: selecting locks: ",
		"/etc/c.yaml:11:10: sources[2].url: reading the Redis URL: a bad DB",
		"/etc/c.yaml:16:20: sources[4].watch[0].keys: a [ without its ]: write \\[ for the character",
		"/etc/c.yaml:18:21: sources[5].watch[0].mutex: selecting keys: ",
		"/etc/c.yaml:18:36: sources[5].watch[1].keys: a \\ at its end",
		"/etc/c.yaml:20:33: an entry of names: naming locks: ",
		"/etc/c.yaml:22:5: owners[0].label: missing",
		"/etc/c.yaml:22:5: owners[0].match: missing",
		"/etc/c.yaml:23:27: thresholds.flap_within: must be an hour at most",
		"/etc/c.yaml:23:37: thresholds.wait: must not be longer",
	}
	got := strings.Split(err.Error(), "\n")
	for i, line := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], line) {
			t.Fatalf("problem %d is not %q:\n%s", i, line, err)
		}
	}
	if len(got) > len(want) {
		t.Errorf("more than was wrong:\n%s", err)
	}
}

func TestObjectivesThatCannotBeJudgedAreMistakes(t *testing.T) {
	t.Parallel()
	const text = `sources: [{url: redis://a}]
history: {keep: 40d}
objectives:
  "z:*": 99.95 % led over 30 days
  "b[": 99 % led over 1h
  "a:*": 99.95 % led since hunter2
  "c:*": 99 % led over 41 days
  "d:*": [99]
  "d:*": 99 % led over 1h
`
	_, err := parse(t, []byte(text), "/etc/c.yaml", noEnv)
	if err == nil {
		t.Fatal("no problem")
	}
	want := []string{
		"/etc/c.yaml:5:9: an entry of objectives: a [ without its ]",
		"/etc/c.yaml:6:10: an entry of objectives: must be written as \"99.95 % led over 30 days\"",
		"/etc/c.yaml:7:10: an entry of objectives: needs a recording of 41d, and 40d are kept: set history.keep",
		"/etc/c.yaml:8:10: an entry of objectives: must be a text",
		"/etc/c.yaml:9:3: objectives: given twice",
	}
	got := strings.Split(err.Error(), "\n")
	for i, line := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], line) {
			t.Fatalf("problem %d is not %q:\n%s", i, line, err)
		}
	}
	if len(got) > len(want) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("too much is said:\n%s", err)
	}
	c, err := parse(t, []byte("sources: [{url: redis://a}]\nobjectives: {z: 99 % led over 30 days, a: 50 % owned over 1h}\n"), "/etc/c.yaml", noEnv)
	if err != nil || len(c.Objectives) != 2 || c.Objectives[1].Pattern != "z" {
		t.Errorf("%+v, %v", c.Objectives, err)
	}
	if _, err := parse(t, []byte("sources: [{url: redis://a}]\nhistory: {off: true}\nobjectives: {z: 99 % led over 1h}\n"), "/etc/c.yaml", noEnv); err == nil || !strings.Contains(err.Error(), "take history.off out") {
		t.Errorf("without a recording: %v", err)
	}
}
