package backends

import (
	"strings"
	"testing"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/sources"
)

func TestYDBIsForcedOnlyAsTheSourceAllows(t *testing.T) {
	t.Parallel()
	lasting := &sources.Row{Primitive: &sources.Primitive{Kind: sources.KindElection, Limit: 3, Data: sources.NewBlob([]byte("own"), 3)}}
	lasting.Owners = []sources.Owner{{Label: "a"}, {Label: "b"}}
	ephemeral := &sources.Row{Primitive: &sources.Primitive{Kind: sources.KindMutex, Ephemeral: true, Owners: []sources.Owner{{Label: "a"}}}}
	target := action.Target{Guard: "17/3"}
	target.Ref.Name = "x"
	for name, c := range map[string]struct {
		s                    config.Source
		lasting, ephemeral   string // why it is refused, in part
		effect, call         string
		wholeSession, owners bool
	}{
		"by default":  {s: config.Source{}, lasting: "30 to 40 s later", ephemeral: "clients_unprotected"},
		"unprotected": {s: config.Source{ClientsUnprotected: true}, effect: "Go, C++, Java and Rust", call: "session_start of session 17 without a key", wholeSession: true},
		"recreated":   {s: config.Source{AllowRecreate: true}, ephemeral: "cannot be deleted", effect: "all its owners (2) and waiters (0), and creates it again with limit 3 and its data (3 bytes)", call: `delete_semaphore "x" with force`, owners: true},
		"both":        {s: config.Source{ClientsUnprotected: true, AllowRecreate: true}, effect: "stops it", call: "session_stop", wholeSession: true},
	} {
		f := ydbForce(c.s)
		for row, want := range map[*sources.Row]string{lasting: c.lasting, ephemeral: c.ephemeral} {
			if why := f.Refuses(row, &row.Owners[0]); !strings.Contains(why, want) || (why == "") != (want == "") {
				t.Errorf("%s: refused with %q, want %q", name, why, want)
			}
		}
		if f.WholeSession != c.wholeSession || c.effect != "" && f.AllOwners != c.owners || f.Cancel != "" {
			t.Errorf("%s: %+v", name, f)
		}
		if text := strings.Join(f.Effect(lasting, &lasting.Owners[0]), " "); c.effect != "" && !strings.Contains(text, c.effect) {
			t.Errorf("%s: the effect is %q", name, text)
		}
		if call := ydbForceCall(c.s, target); c.call != "" && !strings.Contains(call, c.call) {
			t.Errorf("%s: sends %q", name, call)
		}
	}
}
