package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "coordtop/internal/config"
	"coordtop/sources/verdict"
)

const oneSource = "sources: [{url: 'redis://h'}]\n"

func TestMistakesOfARuleForNotificationsAreReportedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"notify: [{filter: x}]":                              "2:10: notify[0]: whom to tell is missing: write one of command, url, url_env, url_file, url_command",
		"notify: [{url: 'ftp://h/x'}]":                       "2:16: notify[0].url: must be a URL that begins with https:// or http://",
		"notify: [{url: 'https://'}]":                        "2:16: notify[0].url: must be a URL that begins with https:// or http://",
		"notify: [{url: 'https://ana:pw-1@h/x'}]":            "2:16: notify[0].url: holds a password: ",
		"notify: [{url: ''}]":                                "2:16: notify[0].url: is empty",
		"notify: [{command: []}]":                            "2:20: notify[0].command: is empty",
		"notify: [{command: ['', x]}]":                       "2:20: notify[0].command: is empty",
		"notify: [{url_command: ['']}]":                      "2:24: notify[0].url_command: is empty",
		"notify: [{url: 'https://h', url_env: HOOK}]":        "2:38: notify[0].url_env: url is there too: keep one",
		"notify: [{severity: bad, url: 'https://h'}]":        "2:21: notify[0].severity: must be needs a person or worth a look",
		"notify: [{url: 'https://h', to: x}]":                "2:29: notify[0]: unknown key",
		"notify: [{url: 'https://h'}]\nhistory: {off: true}": "2:9: notify: needs the recording",
		"alert: loud": "2:8: alert: must be one of off, bell, osc",
	} {
		_, err := parse(t, []byte(oneSource+text), "c.yaml", noEnv)
		if err == nil || !strings.HasPrefix(err.Error(), "c.yaml:"+want) || strings.Contains(err.Error(), "pw-1") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestARuleForNotificationsIsRead(t *testing.T) {
	t.Parallel()
	text := oneSource + "alert: osc\nnotify: [{url_env: HOOK, severity: worth a look, filter: a}, {command: [page, x]}, {url: 'http://h/x'}, {url_file: hook}]\n"
	c, err := parse(t, []byte(text), "/etc/c.yaml", noEnv)
	if err != nil || len(c.Notify) != 4 || c.Alert != "osc" {
		t.Fatalf("%+v, %v", c, err)
	}
	if n := c.Notify[0]; n.Severity != verdict.Warn || n.Filter != "a" || n.Secret.Env != "HOOK" || c.Notify[1].Severity != verdict.Bad || c.Notify[3].Secret.File != "/etc/hook" {
		t.Errorf("%+v", c.Notify)
	}
	lookup := env(map[string]string{"HOOK": "https://h/t0p-secret"})
	for i, want := range []string{"https://h/t0p-secret", "", "http://h/x"} {
		if got, err := c.Notify[i].Address(t.Context(), lookup); err != nil || got != want {
			t.Errorf("rule %d: %q, %v", i, got, err)
		}
	}
}

func TestASecretURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(file, []byte("gopher://t0p-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lookup := env(map[string]string{"HOOK": "t0p-secret", "EMPTY": ""})
	for key, n := range map[string]Notify{
		"url_env":     {Secret: Secret{Env: "HOOK", Of: "url"}},
		"url_file":    {Secret: Secret{File: file, Of: "url"}},
		"url_command": {Secret: Secret{Command: []string{"echo", "file:///t0p-secret"}, Of: "url"}},
	} {
		if _, err := n.Address(t.Context(), lookup); err == nil || strings.Contains(err.Error(), "t0p-secret") || !strings.Contains(err.Error(), "must be a URL that begins with https:// or http://") {
			t.Errorf("%s: %v", key, err)
		}
	}
	for want, n := range map[string]Notify{
		"command":     {Command: []string{"no-such-program-here"}},
		"url_env":     {Secret: Secret{Env: "HOOK", Of: "url"}},
		"url_file":    {Secret: Secret{File: file + "-not", Of: "url"}},
		"url_command": {Secret: Secret{Command: []string{"no-such-program-here"}, Of: "url"}},
	} {
		if key, err := n.Check(t.Context(), lookup); err == nil || key != want || strings.Contains(err.Error(), "t0p-secret") {
			t.Errorf("%s: %s, %v", want, key, err)
		}
	}
	if _, err := (&Notify{URL: "https://h"}).Check(t.Context(), lookup); err != nil {
		t.Error(err)
	}
}
