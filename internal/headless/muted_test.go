package headless_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

// vacancies are an election that is well and two that were lost, at now.
func vacancies(now time.Time) *sources.State {
	return uitest.State(now, uitest.Led("well", "host-1", now), uitest.Leaderless("lost-a", now.Add(-time.Minute)), uitest.Leaderless("lost-b", now.Add(-time.Minute)))
}

// muted is a Mute of a filter, over the sources of a State.
func muted(s *sources.State, filter string) headless.Muting {
	return headless.Muting{Mutes: []mute.Mute{{ID: "1", By: "ana@jump", At: s.At.Add(-time.Second), Until: s.At.Add(time.Hour), Text: "deploy", Filter: filter, Servers: mute.ServersOf(s)}}}
}

func TestOnlyRowsWithAProblemArePrintedWhereThatIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			filter string
			o      headless.GetOptions
			want   string // the names, in order
		}{
			{"", headless.GetOptions{}, "lost-a lost-b well"},
			{"", headless.GetOptions{Problems: true}, "lost-a lost-b"},
			{"lost-a", headless.GetOptions{Problems: true}, "lost-a lost-b"},
			{"lost-a", headless.GetOptions{Problems: true, Muting: headless.Muting{Unacknowledged: true}}, "lost-b"},
		} {
			s := vacancies(time.Now())
			if c.filter != "" {
				c.o.Mutes = muted(s, c.filter).Mutes
			}
			var text, object, diag bytes.Buffer
			err := headless.Get(t.Context(), newScript(s), &text, &diag, c.o)
			c.o.Format = headless.JSON
			err = errors.Join(err, headless.Get(t.Context(), newScript(s), &object, &diag, c.o))
			var printed struct {
				Primitives []struct {
					Name     string
					Problems []struct {
						Acknowledged *struct{ By, Until, Text string }
					}
				}
			}
			if err = errors.Join(err, json.Unmarshal(object.Bytes(), &printed)); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range printed.Primitives {
				names = append(names, p.Name)
				if !strings.Contains(text.String(), p.Name) {
					t.Errorf("the text lacks %s:\n%s", p.Name, text.String())
				}
				for _, problem := range p.Problems {
					if known := problem.Acknowledged; (known != nil) != (p.Name == c.filter) || known != nil && (known.By != "ana@jump" || known.Text != "deploy" || known.Until == "") {
						t.Errorf("%s: acknowledged %+v", p.Name, known)
					}
				}
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("muted %q: %s, want %s", c.filter, got, c.want)
			}
		}
		var out, diag bytes.Buffer
		now := time.Now()
		if err := headless.Get(t.Context(), newScript(uitest.State(now, uitest.Led("well", "host-1", now))), &out, &diag, headless.GetOptions{Problems: true}); err != nil || out.Len() > 0 || diag.String() != "no problems in what was read\n" {
			t.Errorf("%v: %s%s", err, diag.String(), out.String())
		}
	})
}

func TestWhatIsAcknowledgedChangesAnExitCodeOnlyWhereThatIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			filter         string
			unacknowledged bool
			silent         bool
			fails          string // what get says, in order; "": it does not fail
			titles         string
		}{
			{"", false, false, "lost-a lost-b", "leases/0/lost-a leases/0/lost-b"},
			{"lost-a", false, false, "lost-a lost-b", "leases/0/lost-a leases/0/lost-b"},
			{"lost-a", true, false, "lost-b", "leases/0/lost-b"},
			{"lost", true, false, "", ""},
			{"source=leases", false, true, "stale", "redis"},
			{"source=leases", true, true, "", ""},
		} {
			s := vacancies(time.Now())
			if c.silent {
				s.Sources[0].Health, s.Sources[0].Err, s.Scopes[0].Health = sources.HealthStale, sources.ErrSilent, sources.HealthStale
				s.Scopes[0].Alive = s.At.Add(-2 * time.Minute)
			}
			o := headless.GetOptions{FailOn: verdict.Any}
			if c.filter != "" {
				o.Muting = muted(s, c.filter)
			}
			o.Unacknowledged = c.unacknowledged
			var out, diag bytes.Buffer
			err := headless.Get(t.Context(), newScript(s), &out, &diag, o)
			if errors.Is(err, headless.ErrFailed) != (c.fails != "") {
				t.Errorf("%+v: get fails with %v", c, err)
			}
			for word := range strings.FieldsSeq(c.fails) {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%+v: get lacks %s: %v", c, word, err)
				}
			}
			if c.fails == "lost-b" && strings.Contains(err.Error(), "lost-a") {
				t.Errorf("%+v: %v", c, err)
			}
			out.Reset()
			err = headless.WhyAt(&out, s, s.At, headless.WhyOptions{Muting: o.Muting})
			if errors.Is(err, headless.ErrFound) != (c.titles != "") || c.titles == "" && !strings.Contains(out.String(), "nothing was wrong at ") {
				t.Errorf("%+v: why returns %v\n%s", c, err, out.String())
			}
			for word := range strings.FieldsSeq(c.titles) {
				if !strings.Contains(out.String(), word) {
					t.Errorf("%+v: why lacks %s\n%s", c, word, out.String())
				}
			}
			if known := strings.Contains(out.String(), "    known until "); known != (c.filter != "" && !c.unacknowledged) {
				t.Errorf("%+v: why\n%s", c, out.String())
			}
		}
	})
}

func TestWhySaysOfEachFindingWhoKnowsIt(t *testing.T) {
	t.Parallel()
	s := vacancies(uitest.Noon())
	var out bytes.Buffer
	_ = headless.WhyAt(&out, s, s.At, headless.WhyOptions{Format: headless.JSON, Muting: muted(s, "lost-a")}) // it found something
	type known struct{ By, Until, Text string }
	var printed struct {
		Findings []struct {
			Title        string
			Acknowledged *known
			Rows         []struct {
				Name         string
				Acknowledged *known
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil || len(printed.Findings) != 2 {
		t.Fatalf("%v: %s", err, out.String())
	}
	for _, f := range printed.Findings {
		is := f.Rows[0].Name == "lost-a"
		if (f.Acknowledged != nil) != is || (f.Rows[0].Acknowledged != nil) != is || is && *f.Acknowledged != (known{"ana@jump", s.At.Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"), "deploy"}) {
			t.Errorf("%s: %+v, its row %+v", f.Title, f.Acknowledged, f.Rows[0].Acknowledged)
		}
	}
}
