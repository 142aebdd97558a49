package app

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/sources"
)

func TestTheCommandOfARowShowsItWithoutSecrets(t *testing.T) {
	t.Parallel()
	row := func(source, space, name string, kind sources.Kind) *sources.Row {
		return &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: source, Space: space, Name: name}, Kind: kind}}
	}
	c, err := backends.Config().FromURLs([]string{"redis://ops:hunter2@leases:6379/0?keys=app:*", "postgres://ops:hunter2@ledger:5432/ledger",
		"grpc://ops:hunter2@ydb:2136/local?node=/local/a", "grpcs://ops:hunter2@other/?database=/prod&discovery=off"})
	if err != nil {
		t.Fatal(err)
	}
	redis, postgres := c.Sources[0].Name, c.Sources[1].Name
	ydb, other := c.Sources[2].Name, c.Sources[3].Name
	file := c
	file.Path = "config.yaml"
	for _, want := range []struct {
		c       config.Config
		st      settings
		r       *sources.Row
		command string
	}{
		{c, settings{}, row(redis, "0", "app:leader:a", sources.KindElection), "coordtop get 'redis://ops@leases:6379/0?election=app%3Aleader%3Aa'"},
		{c, settings{}, row(redis, "0", "app:*", sources.KindUnknown), `coordtop get 'redis://ops@leases:6379/0?keys=app%3A%5C%2A'`},
		{c, settings{}, row(postgres, "ledger", "17:-4", sources.KindMutex), "coordtop get 'postgres://ops@ledger:5432/ledger?mutex=17%3A-4'"},
		{c, settings{}, row(ydb, "/local/a", "a job+", sources.KindMutex), "coordtop get 'grpc://ops@ydb:2136/local?node=%2Flocal%2Fa&mutex=a%20job%2B'"},
		{c, settings{}, row(other, "/prod/b", "q", sources.KindSemaphore), "coordtop get 'grpcs://ops@other/?database=%2Fprod&discovery=off&node=%2Fprod%2Fb&semaphore=q'"},
		{file, settings{}, row(ydb, "/local/a", "q", sources.KindSemaphore), "coordtop get " + ydb + "/local/a/q"},
		{c, settings{}, row("gone", "", "a", sources.KindMutex), ""},
		{file, settings{}, row(redis, "0", "app:leader:a", sources.KindElection), "coordtop get " + redis + "/0/app:leader:a"},
		{file, settings{file: "my file"}, row(postgres, "", "it's", sources.KindMutex), `coordtop get --config 'my file' '` + postgres + `/it'\''s'`},
	} {
		got := want.st.commandFor(want.c)(want.r)
		if got != want.command {
			t.Errorf("got  %s\nwant %s", got, want.command)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("the password is in %s", got)
		}
	}
}

func TestThemesAreThree(t *testing.T) {
	t.Parallel()
	var o boardOptions
	cmd := &cobra.Command{}
	o.flags(cmd)
	if o.theme != "auto" {
		t.Errorf("it is %s", o.theme)
	}
	if err := cmd.Flags().Set("theme", "light"); err != nil || o.theme != "light" {
		t.Errorf("%v, %s", err, o.theme)
	}
	if err := cmd.Flags().Set("theme", "pink"); err == nil {
		t.Error("pink is a theme")
	}
}
