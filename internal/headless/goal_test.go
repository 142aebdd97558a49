package headless_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// read is a row that its source has just told, with these owners.
func read(name string, owners ...string) *sources.Row {
	r := named("0", name)
	r.At, r.Kind, r.ForgetAfter, r.Taken = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), sources.KindMutex, time.Hour, uint64(len(owners))
	for _, o := range owners {
		r.Owners = append(r.Owners, sources.Owner{ID: "#" + o, Label: o})
	}
	return r
}

// silent is a state of a source that does not answer, for this reason.
func silent(reason error, rows ...*sources.Row) *sources.State {
	s := live(rows...)
	s.Scopes[0].Health, s.Sources[0].Health, s.Sources[0].Err = sources.HealthStale, sources.HealthStale, reason
	return s
}

func TestWaitIsOverWhenTheSourceTellsThatItIsSo(t *testing.T) {
	t.Parallel()
	absent, counted, lasting, unknown := read("x"), read("x"), read("x"), read("x")
	absent.Absent, absent.ForgetAfter = true, 0
	counted.Taken, counted.OwnersHow = 3, sources.Unknown
	lasting.ForgetAfter = 0
	unknown.OwnersHow = sources.Unknown
	free, owned, shared := read("x"), read("x", "ann"), read("x", "bob", "ann")
	server := read("x", "ann pid 7") // of Postgres
	server.Owners[0].Session = "7@1"
	rows := []*sources.Row{server, free, owned, shared, absent, counted, lasting, unknown}
	for goal, over := range map[headless.Goal][]*sources.Row{
		"led": {server, owned, shared, counted}, "free": {free, lasting}, "absent": {free, absent},
		"owner=ann": {owned, shared, server}, "owner=#ann": {owned, shared}, "owner=an": nil, "owner=ann pid 7": {server}, "owner=ann pid": nil,
	} {
		for i, row := range rows {
			want := false
			for _, o := range over {
				want = want || o == row
			}
			synctest.Test(t, func(t *testing.T) {
				var out, diag bytes.Buffer
				feed := newScript(silent(errSilent{}, row))
				done := make(chan error)
				go func() {
					done <- headless.Wait(t.Context(), feed, &out, &diag, headless.WaitOptions{Format: headless.JSON, Names: []string{"a/x"}, For: goal, Timeout: time.Minute})
				}()
				synctest.Wait()
				if out.Len() > 0 || !strings.Contains(diag.String(), "still waiting: a did not answer") {
					t.Errorf("%s, row %d: what its source does not tell is taken for true: %s%s", goal, i, out.String(), diag.String())
				}
				feed.tell(live(row))
				err := <-done
				var got struct{ Primitives []struct{ Name string } }
				if err == nil {
					err = json.Unmarshal(out.Bytes(), &got)
				}
				switch {
				case want && (err != nil || len(got.Primitives) != 1 || got.Primitives[0].Name != "x"):
					t.Errorf("%s, row %d: %v, %s", goal, i, err, out.String())
				case !want && (!errors.Is(err, headless.ErrNotInTime) || out.Len() > 0 || !strings.Contains(diag.String(), "waiting until it is ")):
					t.Errorf("%s, row %d: %v, %s, said %s", goal, i, err, out.String(), diag.String())
				}
			})
		}
	}
}

func TestWaitForANameThatNobodyBears(t *testing.T) {
	t.Parallel()
	for goal, want := range map[headless.Goal]error{"absent": nil, "free": headless.ErrNotFound, "led": headless.ErrNotInTime} {
		synctest.Test(t, func(t *testing.T) {
			var out, diag bytes.Buffer
			err := headless.Wait(t.Context(), newScript(live(read("invoices"))), &out, &diag, headless.WaitOptions{Names: []string{"a/invocies"}, For: goal, Timeout: time.Second})
			if !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err)+diag.String(), "did you mean a/invoices?") == (goal != "absent") {
				t.Errorf("%s: %v, said %s", goal, err, diag.String())
			}
		})
	}
}

func TestWaitAsksWhetherANameIsMisspeltAsGetDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var diag bytes.Buffer
		row := read("x")
		row.Kind = sources.KindElection
		err := headless.Wait(t.Context(), newScript(live(row)), &diag, &diag, headless.WaitOptions{Names: []string{"a/x"}, For: "led", Timeout: time.Second})
		want := "; a/0/x has no leader (the server has nothing of this name: is it misspelt?)"
		if said := diag.String(); err == nil || !strings.HasSuffix(err.Error(), want) || !strings.HasSuffix(said, want+"\n") {
			t.Errorf("got %v, said %s", err, said)
		}
	})
}

func TestWaitEndsWhereAPersonMustChangeSomething(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		refused := silent(fmt.Errorf("%w: no", errors.Join(sources.ErrCredentials, sources.ErrRefused)), read("x"))
		o := headless.WaitOptions{Names: []string{"a/x"}, For: "free"}
		if err := headless.Wait(t.Context(), newScript(refused), &out, &out, o); !errors.Is(err, headless.ErrCredentials) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := headless.Wait(ctx, newScript(live(read("x", "ann"))), &out, &out, o); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, headless.ErrNotInTime) {
			t.Errorf("without a time-out it ended with %v", err)
		}
		if err := headless.Wait(t.Context(), newScript(live(read("x"), read("y"))), &out, &out, headless.WaitOptions{For: "free"}); !errors.Is(err, headless.ErrAmbiguous) {
			t.Errorf("of two: %v", err)
		}
	})
}

func TestGetFailsOnWhatItIsAskedToFailOn(t *testing.T) {
	t.Parallel()
	leaderless, expected, gone := read("leaderless"), read("expected"), read("gone")
	leaderless.Kind, expected.Expected, gone.Kind, gone.Absent = sources.KindElection, true, sources.KindElection, true
	endless, session, late, held, free := read("endless", "e"), read("session", "s"), read("late", "l"), read("held", "h"), read("free")
	endless.Owners[0].NoExpiry = true
	session.Owners[0].NoExpiry, session.Owners[0].Session = true, "4711"
	late.Kind = sources.KindElection
	late.Owners[0].Lease, late.Owners[0].Expires = 30*time.Second, sources.Stamp{At: late.At.Add(time.Second), How: sources.Told}
	waited := read("waited", "w")
	waited.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "next", Since: sources.Stamp{At: waited.At.Add(-time.Minute), How: sources.Told}}}}
	both := read("both", "x", "y")
	stale := silent(errSilent{}, held)
	handedOver, lost, guessed := read("handed"), read("lost"), read("guessed", "g")
	for row, cause := range map[*sources.Row]sources.Cause{handedOver: sources.CauseReleased, lost: sources.CauseExpired} {
		row.Kind, row.Nobody = sources.KindElection, sources.Stamp{At: row.At.Add(-2 * time.Second), How: sources.Told}
		row.Terms = []sources.Term{{Owner: sources.OwnerRef{Label: "o"}, Start: sources.Stamp{At: row.At.Add(-time.Hour), How: sources.Told}, End: row.Nobody, Cause: cause, How: sources.Told}}
	}
	guessed.LimitHow, guessed.Owners[0].NoExpiry = sources.Inferred, true
	for _, c := range []struct {
		on    string
		state *sources.State
		says  []string // nothing: it does not fail
	}{
		{"any", live(session, held, free), nil},
		{"any", live(guessed, handedOver), nil}, // as the board
		{"no-leader", live(handedOver, lost), []string{"no-leader: a/0/lost: nobody leads it, was o (expired)"}},
		{"no-leader", live(leaderless, expected, gone, held, endless, late),
			[]string{"no-leader: a/0/expected: nobody owns it", "no-leader: a/0/gone: it does not exist", "no-leader: a/0/leaderless: nobody leads it"}},
		{"no-ttl", live(leaderless, session, endless), []string{"no-ttl: a/0/endless: the lease of e has no end"}},
		{"late", live(leaderless, late, held), []string{"late: a/0/late: the renewal of l is late"}},
		{"late,no-ttl", live(endless, late), []string{"no-ttl: a/0/endless: the lease of e has no end", "late: a/0/late: the renewal of l is late"}},
		{"wait", live(waited, late), []string{"wait: a/0/waited: somebody has waited for 1m00s"}},
		{"two-owners", live(both, held), []string{"two-owners: a/0/both: owned at once by x and y"}},
		{"stale", stale, []string{"stale: a: the source did not answer", "stale: a/0/held: last known 0s ago"}},
		{"no-leader", stale, nil},
		{"", live(leaderless, endless), nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out, diag bytes.Buffer
			c.state.Thresholds = sources.DefaultThresholds()
			var on verdict.Faults
			if c.on != "" {
				on, _ = headless.ParseFaults(c.on)
			}
			err := headless.Get(t.Context(), newScript(c.state), &out, &diag, headless.GetOptions{FailOn: on})
			var said []string
			for line := range strings.Lines(fmt.Sprint(err)) {
				if text, ok := strings.CutPrefix(strings.TrimSpace(line), "failed on "); ok {
					said = append(said, text)
				}
			}
			if errors.Is(err, headless.ErrFailed) != (c.says != nil) || strings.Join(said, "\n") != strings.Join(c.says, "\n") || out.Len() == 0 {
				t.Errorf("%v: got %v, want %q", c.on, err, c.says)
			}
		})
	}
}

func TestFaultsAreReadFromAListWithCommas(t *testing.T) {
	t.Parallel()
	list, err := headless.ParseFaults("late,no-ttl")
	if err != nil || list != 1<<verdict.Late|1<<verdict.NoTTL {
		t.Errorf("got %v, %v", list, err)
	}
	for _, text := range []string{"", "late,", "led"} {
		if _, err := headless.ParseFaults(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	for text, meant := range map[string]string{"no-leder": "no-leader", "late,stael": "stale", "no-tll": "no-ttl", "ayn": "any"} {
		if _, err := headless.ParseFaults(text); err == nil || !strings.HasPrefix(err.Error(), "did you mean "+meant+"?") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestGetPrintsWhatCanBeDoneAndWhyNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		actions := func(r *sources.Row) headless.Actions {
			return headless.Actions{Row: []headless.Choice{{Action: "acquire"}, {Action: "try", Not: "owned by ann"}}, Owners: []string{"", "ours"}}
		}
		err := headless.Get(t.Context(), newScript(live(read("x", "ann", "bob"))), &out, &out, headless.GetOptions{Format: headless.JSON, Actions: actions})
		for _, want := range []string{
			`"actions":[{"action":"acquire","not":null},{"action":"try","not":"owned by ann"}]`,
			`"release":{"action":"release","not":null}}`, `"release":{"action":"release","not":"ours"}}`,
		} {
			if err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("lacks %s: %v, %s", want, err, out.String())
			}
		}
	})
}
