package backends

import (
	"strings"
	"testing"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/sources"
	"coordtop/sources/ydbsource"
)

func TestSettingsOfANodeAreParsedOrRefused(t *testing.T) {
	t.Parallel()
	list := []sources.Attr{
		{Key: "self check period", Value: "1500ms"}, {Key: "session grace period", Value: "20s"}, {Key: "read consistency", Value: "strict"},
		{Key: "attach consistency", Value: "relaxed"}, {Key: "rate limiter counters", Value: "detailed"},
	}
	c, err := ydbNodeConfig(list)
	if err != nil || c.GetSelfCheckPeriodMillis() != 1500 || c.GetSessionGracePeriodMillis() != 20_000 ||
		c.GetReadConsistencyMode() != 1 || c.GetAttachConsistencyMode() != 2 || c.GetRateLimiterCountersMode() != 2 {
		t.Errorf("got %v, %v", c, err)
	}
	if list[0].Value != "1.5s" {
		t.Errorf("the period is written as %q, not as our watch shows it", list[0].Value)
	}
	r := action.Request{Verb: action.AlterNode, Settings: list[:2]}
	r.Target.Ref.Space = "/local/a\x1b"
	if got := ydbNodeCall(r); got != `AlterNode "/local/a\x1b", self check period 1.5s, session grace period 20s` {
		t.Errorf("it sends %s", got)
	}
	for _, wrong := range []sources.Attr{
		{Key: "self check period", Value: "0"}, {Key: "self check period", Value: "-1s"}, {Key: "session grace period", Value: "2h"}, {Key: "session grace period", Value: "1us"},
		{Key: "read consistency", Value: "UNSET"}, {Key: "read consistency", Value: "unset"}, {Key: "attach consistency", Value: "STRICT"}, {Key: "rate limiter counters", Value: "strict"},
	} {
		if c, err := ydbNodeConfig([]sources.Attr{wrong}); err == nil || !strings.Contains(err.Error(), wrong.Key) {
			t.Errorf("%+v: %v, %v", wrong, c, err)
		}
	}
}

func TestANodeIsNamedByItsPathFromTheRootOrTheDatabase(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s := config.Source{
		URL: "grpc://h/local", Nodes: []string{"app"},
		Watch:     []config.Watch{{Pattern: "everywhere"}, {Pattern: "here", Node: "/local/app"}, {Pattern: "there", Node: "other"}},
		NameFiles: []config.NameFile{{Path: "f", Node: "app"}, {Path: "g", Node: "other"}},
	}
	client, err := ydbcoord.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := ydbsource.NewKnownNames(state+"/ydb-names", client.Address, client.Database).Add(t.Context(), "/local/app", []string{"seen*"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"app", "local/app", "/local/app", "local/app/"} {
		one, space, err := ydbAlone(t.Context(), s, path, state)
		var names []string
		for _, w := range one.Watch {
			names = append(names, w.Pattern)
		}
		if err != nil || space != "/local/app" || len(one.Nodes) != 1 || len(one.NameFiles) != 1 || strings.Join(names, " ") != `everywhere here seen\*` {
			t.Errorf("%s: %+v, %s, %v", path, one, space, err)
		}
	}
	if one, space, err := ydbAlone(t.Context(), s, "", ""); err == nil {
		t.Errorf("no path, of two nodes: %+v, %s", one, space)
	}
	s.Watch, s.NameFiles = s.Watch[:2], nil
	if one, space, err := ydbAlone(t.Context(), s, "", ""); err != nil || space != "/local/app" || len(one.Watch) != 2 {
		t.Errorf("no path, of one node: %+v, %s, %v", one, space, err)
	}
}
