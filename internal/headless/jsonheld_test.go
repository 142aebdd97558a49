package headless_test

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
)

func TestALineOfAcquireHasEveryField(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := headless.WriteHeld(&out, headless.Held{
		Event: "acquired", Ref: sources.Ref{Source: "s", Space: "0", Name: "a\xff"}, Kind: sources.KindElection,
		Owner: sources.OwnerRef{ID: "#1", Label: "ana", Fence: 7}, Data: []byte("\x1b[31m"), Until: time.Unix(1, 0),
	}); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`"at":"[^"]*"`).ReplaceAllString(out.String(), `"at":"AT"`)
	const want = `{"v":1,"at":"AT","event":"acquired","source":"s","namespace":"0","kind":"election","name":"a\\xff","name_b64":"Yf8=","alias":null,` +
		`"owner":{"id":"#1","label":"ana","fence":"7"},"mode":"exclusive","permits":1,` +
		`"data":{"text":"\u001b[31m","len":5,"cut":false},"trusted_until":"1970-01-01T00:00:01.000000Z","detail":null}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}
