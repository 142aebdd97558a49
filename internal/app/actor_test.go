package app

import (
	"testing"

	"coordtop/internal/operate"
)

func TestAnotherCoordtopIsKnownByTheFormOfItsName(t *testing.T) {
	t.Parallel()
	for template, labels := range map[string]map[string]bool{
		"":                   {"bo@desk-2:4711": true, "bo@desk-2:4711 pid 90": true, "bo@desk-2": false, "worker-7": false, "x bo@desk-2:4711": false},
		"ops+{pid} ({user})": {"ops+12 (ana)": true, "ops+12": false, "opss12 (ana)": false},
	} {
		is := peersOf(template)
		for label, want := range labels {
			if is(label) != want {
				t.Errorf("template %q: %q is one: %v", template, label, !want)
			}
		}
		if us := identityOf(template, operate.Actor{User: "ana", Host: "desk"}); !is(us) {
			t.Errorf("template %q: we are %q, which is not one", template, us)
		}
	}
}
