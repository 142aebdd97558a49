package address_test

import (
	"strings"
	"testing"

	"coordtop/internal/ground/address"
)

func TestURLsAreTakenApart(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]address.URL{
		"redis://h":              {Scheme: "redis", Authority: "h", Hosts: "h"},
		"REDIS://h:1/0?a=b":      {Scheme: "redis", Authority: "h:1", Hosts: "h:1", Path: "/0", Query: "a=b"},
		"s://u%40:p@q@a,b:2/x/y": {Scheme: "s", Authority: "u%40:p@q@a,b:2", Login: true, User: "u@", Password: "p@q", Hosts: "a,b:2", Path: "/x/y"},
		"s://@h?k=a@b":           {Scheme: "s", Authority: "@h", Login: true, Hosts: "h", Query: "k=a@b"},
		"postgres:///db":         {Scheme: "postgres", Path: "/db"},
	} {
		if got, err := address.Split(raw); got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", raw, got, err, want)
		}
	}
}

func TestURLsAreRefusedWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                    "not a URL",
		"hunter2":             "not a URL",
		"s://:hunter2 @h":     "%20",
		"s://:hunter2#@h":     "%23",
		"s://:hunter2%zz@h":   "%25",
		"s://:hunter2/x@h":    "an @ behind the host",
		"s://u:p@h/hunter2@x": "an @ behind the host",
	} {
		u, err := address.Split(raw)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want an error with %q", raw, err, want)
		}
		if strings.Contains(raw, "://") && u.Scheme != "s" {
			t.Errorf("%q: the scheme is %q, want it with the error too", raw, u.Scheme)
		}
	}
	if err := address.Parameters("k=hunter2@h", nil); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an @ in a query: %v, want an error", err)
	}
}
