package certs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/coord/certs"
	"coordtop/internal/localserver"
)

func TestTLSFilesAreReadOrSaidToBeBad(t *testing.T) {
	t.Parallel()
	good := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true}).TLSFiles()
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := certs.Files{CA: good.CA, Cert: good.Cert, Key: good.Key, ServerName: "n"}.Load()
	if err != nil || c.RootCAs == nil || len(c.Certificates) != 1 || c.ServerName != "n" {
		t.Errorf("got %+v, %v", c, err)
	}
	if c, err = (certs.Files{}).Load(); err != nil || c.RootCAs != nil || c.InsecureSkipVerify {
		t.Errorf("got %+v, %v", c, err)
	}
	for want, bad := range map[string]certs.Files{
		"no such file":         {CA: "/does/not/exist"},
		"no certificate in":    {CA: text},
		"certificate and key:": {Cert: good.Cert, Key: text},
		"belong together":      {Cert: good.Cert},
	} {
		if _, err := bad.Load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s", bad, err, want)
		}
	}
}

func TestEachParameterSetsItsOwnField(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]certs.Files{
		"ca": {CA: "x"}, "cert": {Cert: "x"}, "key": {Key: "x"}, "server_name": {ServerName: "x"}, "other": {},
	} {
		var got certs.Files
		if err := got.Set(name, "x", ""); got != want || err != nil {
			t.Errorf("%s: %+v (%v), want %+v", name, got, err, want)
		}
	}
	if err := (*certs.Files)(nil).Set("ca", "x", "grpcs"); err == nil || !strings.Contains(err.Error(), "write grpcs") {
		t.Errorf("without TLS: %v, want what to write", err)
	}
}

func TestWhatIsLeftOpenComesFromBelow(t *testing.T) {
	t.Parallel()
	below := certs.Files{CA: "a", Cert: "b", Key: "c", ServerName: "d"}
	for over, want := range map[certs.Files]certs.Files{
		{}:                     below,
		{CA: "x"}:              {CA: "x", Cert: "b", Key: "c", ServerName: "d"},
		{Cert: "x", Key: "y"}:  {CA: "a", Cert: "x", Key: "y", ServerName: "d"},
		{Cert: "x"}:            {CA: "a", Cert: "x", ServerName: "d"},
		{ServerName: "server"}: {CA: "a", Cert: "b", Key: "c", ServerName: "server"},
	} {
		if got := over.Over(below); got != want {
			t.Errorf("%+v over all: %+v, want %+v", over, got, want)
		}
	}
}
