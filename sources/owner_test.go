package sources

import "testing"

func TestAnOwnerIsEndlessUnlessASessionOrALeaseEndsIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		o                  Owner
		endless, bySession bool
	}{
		"a key without TTL":      {Owner{NoExpiry: true}, true, false},
		"a lock of Postgres":     {Owner{NoExpiry: true, Session: "4711"}, false, true},
		"a session of YDB":       {Owner{Session: "7"}, false, true},
		"a lease":                {Owner{Lease: 1, Expires: Stamp{How: Told}}, false, false},
		"a lease in a session":   {Owner{Session: "7", Lease: 1, Expires: Stamp{How: Told}}, false, false},
		"nothing told of an end": {Owner{}, false, false},
	} {
		if tt.o.Endless() != tt.endless || tt.o.BySession() != tt.bySession {
			t.Errorf("%s: endless %v, by its session %v", name, tt.o.Endless(), tt.o.BySession())
		}
	}
}

func TestNoTTLByDesignStandsBeforeTheFormat(t *testing.T) {
	t.Parallel()
	format := FormatLabel("sidekiq-unique-jobs", Told)
	for _, tt := range []struct {
		labels []Attr
		want   bool
	}{
		{nil, false}, {[]Attr{format}, false}, {[]Attr{NoTTLLabel(), format}, true},
		{[]Attr{{Key: "team", Value: "a"}, NoTTLLabel(), format}, true}, {[]Attr{{Key: "no_ttl", Value: "x"}, format}, false},
	} {
		p := &Primitive{Labels: tt.labels}
		if library, _ := p.Format(); p.NoTTLByDesign() != tt.want || (library == "") != (tt.labels == nil) {
			t.Errorf("%v: %v, %q", tt.labels, p.NoTTLByDesign(), library)
		}
	}
}
