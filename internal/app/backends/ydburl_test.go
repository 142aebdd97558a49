package backends

import (
	"testing"

	"coordtop/internal/config"
	"coordtop/sources"
)

func TestTheURLOfARowOfYDBSelectsThatRow(t *testing.T) {
	t.Parallel()
	s := config.Source{Type: "ydb", URL: "grpc://h:2136/local", Address: "grpc://h:2136/local"}
	for name, pattern := range map[string]string{"primary": "primary", "a*b": `a\*b`, "a b&c": "a b&c", `a\b`: `a\b`} {
		row := &sources.Row{Primitive: &sources.Primitive{Kind: sources.KindElection, Ref: sources.Ref{Space: "/local/app", Name: name}}}
		target, err := Config().ParseURL(URL(s, row))
		if err != nil || len(target.Watch) != 1 || target.Watch[0].Pattern != pattern {
			t.Errorf("%q: %+v, %v", name, target, err)
		}
	}
}
