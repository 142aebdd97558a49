package headless_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/origin"
)

// owners prints who owns what of everything.
func owners(t *testing.T, o headless.OwnersOptions) (out, diag string, err error) {
	t.Helper()
	var outs, diags bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := everything(time.Now())
		s.Thresholds = sources.DefaultThresholds()
		err = headless.Owners(t.Context(), newScript(s), &outs, &diags, o)
	})
	return outs.String(), diags.String(), err
}

func TestOwnersPrintsTheDocumentedObject(t *testing.T) {
	t.Parallel()
	out, diag, err := owners(t, headless.OwnersOptions{Format: headless.JSON})
	if !errors.Is(err, headless.ErrNoAnswer) || diag != "" {
		t.Errorf("got %v and %q", err, diag)
	}
	golden(t, "owners.json", indented(t, []byte(out)))
	_, doc, _ := strings.Cut(headless.JSONHelp(headless.OfOwners), "Owners prints")
	for field := range strings.SplitSeq(out, `"`) {
		if strings.HasPrefix(field, ":") || strings.Trim(field, "abcdefghijklmnopqrstuvwxyz_") != "" || !strings.Contains(out, `"`+field+`":`) {
			continue
		}
		if !strings.Contains(doc, field) && field != "name_b64" {
			t.Errorf("the documentation does not name the field %s", field)
		}
	}
}

func TestOwnersPrintsATableForPeople(t *testing.T) {
	t.Parallel()
	out, _, err := owners(t, headless.OwnersOptions{})
	if !errors.Is(err, headless.ErrNoAnswer) {
		t.Errorf("got %v", err)
	}
	safe(t, out)
	golden(t, "owners.txt", []byte(out))
}

func TestOwnersAnswersForTheHostsThatAreNamed(t *testing.T) {
	t.Parallel()
	out, _, err := owners(t, headless.OwnersOptions{Names: []string{"host-07", "host-70"}})
	if !errors.Is(err, headless.ErrNotFound) || !strings.Contains(err.Error(), "host host-70: not found") || !strings.Contains(err.Error(), "did you mean host-07?") {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"if host-07 goes, 1 falls in 22s; nobody else is known for it\n", "  owns  leases/0/app:leader:billing  "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out, _, _ := owners(t, headless.OwnersOptions{By: origin.BySession, Names: []string{"host-07:4411"}}); !strings.Contains(out, "if host-07:4411 goes") {
		t.Errorf("by session:\n%s", out)
	}
}
