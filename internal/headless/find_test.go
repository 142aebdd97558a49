package headless_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
)

func TestFindReturnsTheOneRowThatIsMeant(t *testing.T) {
	t.Parallel()
	feed := newScript(live(named("0", "x"), named("1", "x"), named("1", "y")))
	for _, tt := range []struct {
		name, space string
		found       string
		err         error
		says        string
	}{
		{"a/y", "", "1 y", nil, ""},
		{"a/1/x", "", "1 x", nil, ""},
		{"a/x", "0", "0 x", nil, ""},
		{"a/x", "", "", headless.ErrAmbiguous, "a/0/x, a/1/x"},
		{"", "0", "0 x", nil, ""},
		{"", "", "", headless.ErrAmbiguous, "a/0/x, a/1/x, a/1/y"},
		{"a/z", "", "", headless.ErrNotFound, "a/z"},
	} {
		row, err := headless.Find(t.Context(), feed, tt.name, tt.space, time.Minute, nil)
		switch {
		case !errors.Is(err, tt.err) || err != nil && !strings.Contains(err.Error(), tt.says):
			t.Errorf("%q in %q: %v, want %v with %q", tt.name, tt.space, err, tt.err, tt.says)
		case err == nil && row.Space+" "+row.Name != tt.found:
			t.Errorf("%q in %q: found %s %s, want %s", tt.name, tt.space, row.Space, row.Name, tt.found)
		}
	}
}

func TestWhereNothingIsFoundTheSettingsAreShown(t *testing.T) {
	t.Parallel()
	state := live()
	state.Scopes[0].Name = "/local/app"
	state.Scopes[0].About.Config = []sources.Attr{{Key: "read consistency", Value: "strict"}, {Key: "hostile\x1b[2J", Value: "x\ny"}}
	var out, diag bytes.Buffer
	if err := headless.Get(t.Context(), newScript(state), &out, &diag, headless.GetOptions{}); err != nil {
		t.Error(err)
	}
	if want := "a: settings of /local/app: read consistency: strict, hostile\\x1b[2J: x\\ny\n"; out.Len() > 0 || diag.String() != want {
		t.Errorf("printed %q, want %q", diag.String(), want)
	}
}
