package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/help"
)

func TestTheManualTellsOfEveryCommandFlagFieldAndCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if code := w.main(t.Context(), "man"); code != exitOK || w.stderr.String() != "" {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	page := strings.ReplaceAll(w.stdout.String(), `\-`, "-")
	for _, want := range []string{
		".TH \"COORDTOP\" \"1\"", "coordtop get [URL | SOURCE[/NAME] ...]\"", "coordtop completion bash | fish | powershell | zsh", "coordtop config check [FILE]",
		`\fB-o, --output text|json\fR`, `\fB--wait TIME\fR`, `\fB--config FILE\fR`, `\fB--redis-port PORT\fR`, `\fB--permits N\fR`,
		"\n    owners_known ", "\n  gap_ms ", "\n  trusted_until ", "audit.jsonl", "COORDTOP_CONFIG", "coordtop demo --no-ui",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("lacks %q", want)
		}
	}
	for code, text := range exitMeanings() {
		if want := fmt.Sprintf(".TP\n%d\n%s", code, text); !strings.Contains(page, want) {
			t.Errorf("lacks %q", want)
		}
	}
	for _, name := range append([]string{"EXIT STATUS"}, help.Names()...) {
		if want := fmt.Sprintf(".SH \"%s\"\n", strings.ToUpper(name)); name != "exit-codes" && !strings.Contains(page, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if n := strings.Count(page, "The JSON is an interface"); n != 1 {
		t.Errorf("explains the JSON %d times", n)
	}
	if strings.Contains(page, "demo-candidate") {
		t.Error("tells of a command that is not for people")
	}
	for line := range strings.Lines(page) {
		if len(line) > 79 && strings.HasPrefix(line, "  ") {
			t.Errorf("wider than 80 columns with its indentation: %s", line)
		}
	}
}

func TestArgumentsAreCompletedWithSourcesOfTheConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"get", ""}, []string{"redis://", "grpcs://", "leases/"}},
		{[]string{"watch", "le"}, []string{"leases/"}},
		{[]string{"campaign", "po"}, []string{"postgres://"}},
		{[]string{"get", "-o", ""}, []string{"text", "json"}},
		{[]string{"--theme", ""}, []string{"auto", "dark", "light"}},
	} {
		w := newWorld(t)
		w.write(t, configFile, "sources: [{name: leases, url: 'redis://h'}]")
		if code := w.main(t.Context(), append([]string{"__complete"}, c.args...)...); code != exitOK {
			t.Errorf("%v: exit code %d", c.args, code)
		}
		lines := strings.Fields(w.stdout.String())
		for _, want := range c.want {
			if !slices.Contains(lines, want) {
				t.Errorf("%v: lacks %q: %q", c.args, want, lines)
			}
		}
	}
}

func TestExitCodesHaveOneMeaningEach(t *testing.T) {
	t.Parallel()
	for code, text := range exitMeanings() {
		if text == "" {
			t.Errorf("code %d means nothing", code)
		}
	}
}
