package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/glob"
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
	odd := file
	odd.Sources = append(slices.Clone(c.Sources), config.Source{Name: "-o json"}, config.Source{Name: "=ls"})
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
		{odd, settings{}, row(ydb, "0", `lk\'; touch X #`, sources.KindMutex), `coordtop get '` + ydb + `/0/lk'\\\''; touch X #'`},
		{odd, settings{}, row("-o json", "0", "a", sources.KindMutex), `coordtop get -- '-o json/0/a'`},
		{odd, settings{}, row("=ls", "0", "~", sources.KindMutex), `coordtop get '=ls/0/~'`},
		{c, settings{}, row(redis, "0", `lk\'`+"\x00\n\xff", sources.KindMutex), `coordtop get 'redis://ops@leases:6379/0?mutex=lk%5C%5C%27%00%0A%FF'`},
	} {
		got := want.st.commandFor(want.c)(want.r, "get")
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

func TestACommandThatIsPastedRunsNothingElseAndFindsItsRow(t *testing.T) {
	t.Parallel()
	c, err := backends.Config().FromURLs([]string{"redis://leases:6379/0"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	path := w.write(t, "it's \\my' config.yaml", "sources:\n- {name: leases, url: 'redis://127.0.0.1:1/0'}\n- {name: '-o json', url: 'redis://127.0.0.1:1/0'}\n- {name: '=ls', url: 'redis://127.0.0.1:1/0'}\n")
	st := settings{file: path, lookup: func(string) (string, bool) { return "", false }}
	file, err := st.found()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "coordtop"), []byte("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	keys := []string{
		`lk\'; touch X #`, `lk'; touch X #`, "$(touch X)", "`touch X`", "a; touch X", "a\ntouch X\n", "~", "=ls", "!!", "-rf", "", "{a,b}", "*", `\`, `\\`, `'`, `a\`, "https://host/a?b=c", "@team", "%self", "日本",
	}
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "fish"} {
		exe, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here", shell)
			continue
		}
		for _, of := range []config.Config{c, file} {
			for _, s := range of.Sources {
				for _, key := range keys {
					if key == "" && of.Path == "" {
						continue // no URL names it: that is refused
					}
					r := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: s.Name, Space: "0", Name: key}, Kind: sources.KindMutex}}
					command := st.commandFor(of)(r, "get")
					cmd := exec.Command(exe, "-c", command)
					cmd.Dir = t.TempDir()
					cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + cmd.Dir}
					out, err := cmd.CombinedOutput()
					args := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
					if _, obeyed := os.Stat(filepath.Join(cmd.Dir, "X")); err != nil || obeyed == nil || args[0] != "get" {
						t.Fatalf("%s: %q of %s: %v, %q", shell, key, command, err, out)
					}
					var selected string
					get := &cobra.Command{Use: "get", Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
						picked, names, err := st.pick(args, false)
						if len(names) == 1 {
							selected = names[0]
						} else if err == nil && glob.Pattern(picked.Sources[0].Watch[0].Pattern).Match(key) {
							selected = r.FullName()
						}
						return err
					}}
					get.Flags().StringVar(new(string), "config", "", "")
					get.SetArgs(args[1:])
					if err := get.Execute(); err != nil || selected != r.FullName() {
						t.Fatalf("%s: %s is of %q, not of %q: %v", shell, command, selected, r.FullName(), err)
					}
				}
			}
		}
	}
}

func TestWhatToTypeWithoutAConfigIsACommand(t *testing.T) {
	t.Parallel()
	st := settings{lookup: func(string) (string, bool) { return "", false }}
	if text := st.nothing("/home/it's me/.config/coordtop/config.yaml"); !strings.Contains(text,
		`mkdir -p '/home/it'\''s me/.config/coordtop' && coordtop config example > '/home/it'\''s me/.config/coordtop/config.yaml'`) {
		t.Error(text)
	}
}
