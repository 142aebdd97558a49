package ydbcoord_test

import (
	"testing"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
)

func TestOwnersNameTheirNodesIncarnationIfAsked(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	d, err := ydbcoord.New(b.URL(0)+"?node="+node, ydbcoord.Options{Incarnations: true, CreateElections: true})
	noError(t, err)
	defer d.Close(t.Context())
	c, err := ydbcoord.ParseURL(b.URL(0))
	noError(t, err)
	client, err := ydbcoord.NewClient(c)
	noError(t, err)
	defer client.Close(t.Context())
	n, err := client.Nodes().Describe(t.Context(), node)
	if err != nil || n.Incarnation == "" {
		t.Fatalf("%+v, %v", n, err)
	}
	s, err := coord.Open(t.Context(), d, coord.SessionOptions{})
	noError(t, err)
	defer s.Close(t.Context())
	term, err := s.Election("e", coord.ElectionOptions{}).Campaign(t.Context(), []byte("us"))
	noError(t, err)
	want := ydbcoord.OwnerID(b.Owners(node, "e")[0].SessionID, n.Incarnation)
	if got := term.Lease().Owner(); got != want {
		t.Errorf("the grant's owner is %q, want %q", got, want)
	}
	l, err := s.Election("e", coord.ElectionOptions{}).Leader(t.Context())
	if err != nil || !l.IsMe || l.Owner != want {
		t.Errorf("described %+v, %v, want %q", l, err, want)
	}
	for l, err := range s.Election("e", coord.ElectionOptions{}).Observe(t.Context()) {
		if err != nil || !l.IsMe || l.Owner != want {
			t.Errorf("observed %+v, %v, want %q", l, err, want)
		}
		break
	}
}
