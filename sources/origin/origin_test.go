package origin

import (
	"testing"

	"coordtop/sources"
)

func TestTheFormOfALabelTellsTheHostAndTheProgram(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]Origin{
		"host-22:4411":      {Host: "host-22"},
		"host-22:4411 (us)": {Host: "host-22"},
		"ana@jump-2:77":     {Host: "jump-2"},
		"0b9b6a1e-33f0-4c77-8bd3-2b1a1c6d9e10@db-3": {Host: "db-3"},
		"billing-7d9f8c6b5d-x2k4p":                  {Host: "billing-7d9f8c6b5d-x2k4p", Program: "billing"},
		"billing-7d9f8c6b5d-x2k4p:1":                {Host: "billing-7d9f8c6b5d-x2k4p", Program: "billing"},
		"worker-a":                                  {},
		"session 8128529":                           {},
		"conn 7":                                    {},
		"#1a2b3c4d":                                 {},
		"a b@c":                                     {},
		"urn:uuid:12":                               {},
		"order-by-date":                             {},
		"":                                          {},
	} {
		want.Label = label
		if got := Labels(nil).OfOwner(&sources.Owner{Label: label}); got != want {
			t.Errorf("%q: %+v, want %+v", label, got, want)
		}
	}
}

func TestWhatTheConfigAndTheServerTellComesBeforeTheLabel(t *testing.T) {
	t.Parallel()
	attrs := []sources.Attr{{Key: "application", Value: "compactor"}, {Key: "client", Value: "10.0.0.7:5123"}}
	if got := Labels(nil).OfOwner(&sources.Owner{Label: "compactor pid 7", Attrs: attrs}); got.Host != "10.0.0.7" || got.Program != "compactor" {
		t.Errorf("of the server: %+v", got)
	}
	attrs[0].Value = "host-9:12"
	if got := Labels(nil).OfOwner(&sources.Owner{Label: "host-9:12 pid 7", Attrs: attrs}); got.Host != "host-9" {
		t.Errorf("a name with a host counts more than an address, which may be a pooler's: %+v", got)
	}
	attrs = append(attrs, sources.Attr{Key: sources.HostAttr, Value: "host-1"}, sources.Attr{Key: sources.ProgramAttr, Value: "billing"})
	if got := Labels(nil).OfOwner(&sources.Owner{Label: "host-9:12 pid 7", Attrs: attrs}); got.Host != "host-1" || got.Program != "billing" {
		t.Errorf("of the config: %+v", got)
	}
}

func TestAnAddressIsAHostWithoutItsPort(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{"10.0.0.7:5123": "10.0.0.7", "[fd00::7]:5123": "fd00::7", "fd00::7": "fd00::7", "local socket": "", "127.0.0.1:5123": "", "[::1]:5123": "", "db.example": "db.example"} {
		if got := withoutPort(client); got != want {
			t.Errorf("%q: %q, want %q", client, got, want)
		}
	}
}

func TestOwnersAreJoinedByHostByProgramOrBySession(t *testing.T) {
	t.Parallel()
	full, bare := Origin{Host: "h", Program: "p", Session: "s", Label: "l"}, Origin{Session: "s"}
	for b, want := range map[By][2]string{ByHost: {"h", "s"}, ByProgram: {"p", "s"}, BySession: {"l", "s"}} {
		if got := [2]string{full.Under(b), bare.Under(b)}; got != want {
			t.Errorf("by %v: %v, want %v", b, got, want)
		}
		if named, ok := ByNamed(b.String()); !ok || named != b {
			t.Errorf("%v is named %v", b, named)
		}
	}
	if _, ok := ByNamed("label"); ok {
		t.Error("there is no way of that name")
	}
}
