package dialog

import (
	"testing"

	"coordtop/internal/action"
	"coordtop/ui/keys"
)

func TestEachVerbWithALineInTheMenuHasAKeyThere(t *testing.T) {
	t.Parallel()
	bound := map[keys.Intent]bool{}
	for _, b := range keys.DialogBindings() {
		bound[b.Intent] = bound[b.Intent] || b.Context&keys.InMenu != 0 && len(b.Keys) > 0
	}
	wants := map[keys.Intent]action.Verb{}
	for _, v := range action.Verbs() {
		i := verbIntent(v.Verb)
		if (i != "") != (v.Text != "") {
			t.Errorf("%v has the intent %q and the line %q", v.Verb, i, v.Text)
		}
		if i == "" {
			continue
		}
		if !bound[i] || wants[i] != 0 {
			t.Errorf("%v has no key of its own in the menu", v.Verb)
		}
		wants[i] = v.Verb
	}
	if i := verbIntent(action.Verb(len(action.Verbs()) + 1)); i != "" {
		t.Errorf("a verb that nobody knows is chosen by %s", i)
	}
}
