package app

import (
	"os"
	"strconv"
	"testing"

	"coordtop/internal/operate"
)

func TestOurIdentityFollowsItsTemplate(t *testing.T) {
	t.Parallel()
	pid := strconv.Itoa(os.Getpid())
	for template, want := range map[string]string{
		"":                   "ana@desk-2:" + pid,
		"ops+{pid} ({user})": "ops+" + pid + " (ana)",
	} {
		if got := identityOf(template, operate.Actor{User: "ana", Host: "desk-2"}); got != want {
			t.Errorf("template %q: we are %q, want %q", template, got, want)
		}
	}
}
