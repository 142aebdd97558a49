package address_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/ground/address"
)

func TestLoginIsDecoded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, user, password string }{
		{"u", "u", ""},
		{"u:p", "u", "p"},
		{":p", "", "p"},
		{"a%40b:p%3Aq:r", "a@b", "p:q:r"},
	} {
		if user, password, err := address.Login(c.text); user != c.user || password != c.password || err != nil {
			t.Errorf("%q: %q, %q, %v", c.text, user, password, err)
		}
	}
	for text, want := range map[string]string{"u%zz": "user", "u:hunter2%": "password"} {
		if _, _, err := address.Login(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want an error about the %s without it", text, err, want)
		}
	}
}

func TestHostIsCompleted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"h": "h:2136", "h:1": "h:1", "[::1]": "[::1]:2136", "[::1]:65535": "[::1]:65535", "[fe80::1%25lo]": "[fe80::1%lo]:2136", "[fe80::1%lo]:1": "[fe80::1%lo]:1", "127.0.0.1:80": "127.0.0.1:80",
	} {
		if got, err := address.Host(text, "2136", "grpc://host:2136/db"); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "grpc://host:2136/db", ":1": "is missing", "h:": "port", "h:0": "port", "h:65536": "port", "h:x": "port",
		"::1": "[::1]:2136", "[::1": "[::1]:2136", "[x]:1": "IPv6", "[127.0.0.1]:1": "IPv6", "a,b": "host:2136", "a@b:1": "host:2136", "a/b": "host:2136",
	} {
		if got, err := address.Host(text, "2136", "grpc://host:2136/db"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestParametersAreDecodedInOrderUntilOneIsRefused(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	var seen []string
	set := func(name, value string) error {
		if seen = append(seen, name+"="+value); name == "c" {
			return refused
		}
		return nil
	}
	if err := address.Parameters("b=1%262&&a=x+y&c&d=1", set); !errors.Is(err, refused) {
		t.Errorf("%v, want what set returned", err)
	}
	if want := []string{"b=1&2", "a=x y", "c="}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	if err := address.Parameters("password=hunter2%zz", set); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v, want an error without the value", err)
	}
	if err := address.Parameters("", set); err != nil {
		t.Error(err)
	}
}
