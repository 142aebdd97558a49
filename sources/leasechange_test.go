package sources

import (
	"strings"
	"testing"
	"time"
)

// TestALeaseThatIsCutIsAnEvent looks twice at one owner, a second apart.
func TestALeaseThatIsCutIsAnEvent(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	ends := func(s float64) Owner {
		return Owner{ID: "a", Since: Stamp{At: at(-60), How: Seen}, Expires: StampBetween(at(s-0.003), at(s), Told)}
	}
	whole := func(s float64) Owner {
		return Owner{ID: "a", Since: Stamp{At: at(-60), How: Seen}, Expires: Stamp{At: at(s), How: Told}}
	}
	endless := Owner{ID: "a", NoExpiry: true, Since: Stamp{At: at(-60), How: Seen}}
	fresh := ends(30)
	fresh.Since = Stamp{At: at(0.5), How: Told}
	tests := []struct {
		name        string
		before, now Owner
		want        string // of Detail; "": no such event
	}{
		{"as before", ends(30), ends(30), ""},
		{"within what reading takes", ends(30), ends(29.97), ""},
		{"renewed", ends(30), ends(40), ""},
		{"cut", ends(30), ends(5), "it ends in 4.0 s; it had 29 s left"},
		{"cut by little", ends(30), ends(29.9), "it ends in 28 s; it had 29 s left"},
		{"cut, told without doubt", whole(30), whole(5), "it ends in 4.0 s; it had 29 s left"},
		{"without doubt, as before", whole(30), whole(29.98), ""},
		{"the end was removed", ends(30), endless, "it has no end any more; it had 29 s left"},
		{"an end was set", endless, ends(30), "it ends in 29 s; it had no end"},
		{"an end was set just after it was taken", endless, fresh, ""},
		{"no end, as before", endless, endless, ""},
		{"unknown", ends(30), Owner{ID: "a"}, ""},
	}
	for _, tt := range tests {
		before := &Primitive{Kind: KindMutex, OwnersHow: Told, At: at(0), Owners: []Owner{tt.before}}
		after := &Primitive{Kind: KindMutex, OwnersHow: Told, At: at(1), Owners: []Owner{tt.now}}
		var details []string
		for _, e := range Diff(before, after, Change{At: at(1)}) {
			if e.Kind == EventLeaseChanged && e.Owner.ID == "a" && e.How == Told {
				details = append(details, e.Detail)
			} else if e.Kind != EventRenewed || tt.want != "" {
				t.Errorf("%s: %+v", tt.name, e)
			}
		}
		if got := strings.Join(details, "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
