package app

import (
	"os/exec"
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

func TestWhatIsPrintedToAClosedOutputIsAnError(t *testing.T) {
	t.Parallel()
	url := localserver.RedisForTest(t, localserver.RedisOptions{}).URL() + "?mutex=x"
	for _, c := range []struct {
		args, to string
		code     int
		says     string
	}{
		{"get " + url, ">&-", exitError, "standard output is closed"},
		{"get -o json " + url, ">&-", exitError, "standard output is closed"},
		{"get --fail-on any " + url, ">&-", exitOK, ""},
		{"get " + url, ">/dev/null", exitOK, ""},
		{"get " + url, ">/dev/full", exitError, "no space"},
		{"get redis://127.0.0.1:1/0", ">&-", exitNoAnswer, ""},
	} {
		p := command(t, strings.Fields(c.args)...)
		cmd := exec.Command("sh", append([]string{"-c", `"$0" "$@" ` + c.to}, p.Args...)...)
		cmd.Env = p.Env
		var errs strings.Builder
		cmd.Stderr = &errs
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s %s: exit code %d, want %d: %s", c.args, c.to, code, c.code, errs.String())
		}
	}
}
