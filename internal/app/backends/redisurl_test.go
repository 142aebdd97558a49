package backends

import (
	"testing"

	"coordtop/coord/rediscoord"
	"coordtop/internal/config"
	"coordtop/sources"
)

func TestTheURLOfARowLeadsToItsDatabase(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"redis://:secret@h:1/2?mutex=app:*":          "redis://h:1/2?mutex=job",
		"redis://h:1":                                "redis://h:1?mutex=job",
		"redis://h:1?db=2&mutex=app:*":               "redis://h:1?db=2&mutex=job",
		"redis+sentinel://h:1/main/2":                "redis+sentinel://h:1/main/2?mutex=job",
		"unix:///run/2?db=2":                         "unix:///run/2?db=2&mutex=job",
		"unix:///run/a.sock":                         "unix:///run/a.sock?mutex=job",
		"unix://ann:secret@/run/a.sock?db=2&keys=a*": "unix://ann@/run/a.sock?db=2&mutex=job",
	} {
		c, err := Config().FromURLs([]string{raw})
		if err != nil {
			t.Fatal(err)
		}
		got := URL(c.Sources[0], &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Name: "job"}, Kind: sources.KindMutex}})
		if got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
		before, err := rediscoord.ParseURL(c.Sources[0].URL)
		target, bad := Config().ParseURL(got)
		after, worse := rediscoord.ParseURL(target.URL)
		if err != nil || bad != nil || worse != nil || before.DB != after.DB {
			t.Errorf("%s: %v, %v, %v; database %d became %d", raw, err, bad, worse, before.DB, after.DB)
		}
	}
	if shown := Config().AddressWithoutLogin(&config.Source{Type: "redis", Address: "unix:///run/a.sock"}); shown != "unix:///run/a.sock" {
		t.Error(shown)
	}
}
