package diagnose

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// only returns the only finding of a State.
func only(t *testing.T, in *Input) *Finding {
	t.Helper()
	found := Find(in)
	complete(t, in, found)
	if len(found) != 1 {
		t.Fatalf("found %d: %+v", len(found), found)
	}
	return &found[0]
}

func has(t *testing.T, f *Finding, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text(f), w) {
			t.Errorf("no %q in\n%s", w, text(f))
		}
	}
}

func TestASilentServerSwallowsTheProblemsOfItsRows(t *testing.T) {
	t.Parallel()
	st := state(lost("a", "host-1:1", time.Minute, expired, inferred), led("b", "host-2:1"), lostOn("ydb", "c", "host-1:1", time.Minute, sources.CauseUnknown, seen))
	st.Scopes[0].Health, st.Scopes[0].Alive = sources.HealthStale, uitest.Noon().Add(-5*time.Second)
	st.Sources[0].Health, st.Sources[0].Err = sources.HealthStale, errors.New("connection refused")
	in := input(st)
	found := Find(in)
	complete(t, in, found)
	if len(found) != 2 || found[0].Pattern != LeaderGone || found[1].Pattern != ServerSilent || found[1].Hidden != 1 || len(found[1].Rows) != 0 {
		t.Fatalf("%+v", found)
	}
	has(t, &found[1], "redis does not answer", "connection refused", "2 rows are as of the last answer", "1 of them had a problem then", "coordtop doctor redis")
	st.Sources[0].Err, st.Scopes[0].Alive = nil, uitest.Noon().Add(-2*time.Minute)
	if found = Find(input(st)); found[0].Pattern != LeaderGone || found[1].Severity != 0 {
		t.Errorf("%+v", found)
	}
	has(t, &found[1], "its server has stopped answering")
	st.Sources[0].Health = sources.HealthConnecting // the first look is still under way
	in = input(st)
	in.Began = in.Now.Add(-time.Second)
	if found = Find(in); len(found) > 0 && found[len(found)-1].Pattern == ServerSilent {
		t.Errorf("%+v", found)
	}
	in.Began = time.Time{} // as for a command that has waited for its answer
	if found = Find(in); len(found) != 2 || found[1].Pattern != ServerSilent && found[0].Pattern != ServerSilent {
		t.Errorf("a source that never answered is no reason to be calm: %+v", found)
	}
}

func TestARecorderThatIsSilentIsOneCauseForAllSources(t *testing.T) {
	t.Parallel()
	st := state(led("a", "host-1:1"), lostOn("ydb", "c", "host-1:1", time.Minute, sources.CauseUnknown, seen))
	for i := range st.Sources {
		st.Sources[i].Health, st.Sources[i].Err = sources.HealthStale, fmt.Errorf("vm recorded until 3: %w", sources.ErrUnseen)
		st.Scopes[i].Health, st.Scopes[i].Alive = sources.HealthStale, uitest.Noon().Add(-5*time.Second)
	}
	one := only(t, input(st))
	if one.Pattern != RecorderSilent || one.Source != "" || one.Hidden != 1 {
		t.Errorf("%+v", one)
	}
	has(t, one, "all that is shown is old", "vm recorded until 3", "2 rows are as of the last answer", "coordtop record --status")
}

func TestARowThatIsReadAnewIsNotExplained(t *testing.T) {
	t.Parallel()
	st := state(lost("a", "host-1:1", time.Minute, expired, inferred))
	st.Scopes[0].Listing++
	if found := Find(input(st)); len(found) != 0 {
		t.Errorf("what it was is told as if it were so now: %+v", found)
	}
}

func TestRowsOfASilentServerThatOnlyARecordingHas(t *testing.T) {
	t.Parallel()
	st := state(led("a", "host-1:1"))
	st.Rows, st.Scopes = nil, nil
	st.Sources[0].Health, st.Sources[0].Err = sources.HealthConnecting, errors.New("connection refused")
	in := input(st)
	in.Known = &sources.Keyframe{At: sources.Instant{Wall: uitest.Noon()}, Rows: make([]*sources.Row, 13), Scopes: []sources.ScopeFacts{{}}} // the last row is gone
	in.Known.Scopes[0].Source, in.Known.Scopes[0].Alive = st.Sources[0].Name, uitest.Noon().Add(-time.Hour)
	for i := range in.Known.Rows[:12] {
		in.Known.Rows[i] = led("a", "host-1:1")
	}
	f := only(t, in)
	if has(t, f, "12 rows are as of the last answer"); !f.Since.At.Equal(uitest.Noon().Add(-time.Hour)) {
		t.Errorf("since %v", f.Since)
	}
}

func TestARestartSaysWhatBecameOfTheServer(t *testing.T) {
	t.Parallel()
	st := state(lost("a", "host-1:1", time.Minute, restart, inferred))
	st.Scopes[0].About = sources.About{Became: "another server: 10.0.0.7:6379", BecameHow: inferred}
	has(t, only(t, input(st)), "no owner since another server answers for redis", "another server: 10.0.0.7:6379 (inferred)")
}

func TestWarningsOfAServerArePossibleReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		warning, words string
		row            *sources.Row
		is             bool
	}{
		{"(maxmemory-policy allkeys-lru)", "the server dropped the key", lost("a", "host-1:1", time.Minute, sources.CauseUnknown, seen), true},
		{"(maxmemory-policy allkeys-lru)", "the server dropped the key", lost("a", "host-1:1", time.Minute, expired, inferred), false},
		{"a pooler in transaction or statement mode stands between", "a pooler in transaction mode", lostOn("postgres", "a", "batch", time.Minute, session, inferred), true},
		{"a pooler stands between", "a pooler in transaction mode", lostOn("postgres", "a", "batch", time.Minute, session, inferred), false},
	} {
		st := state(c.row)
		st.Scopes[0].About.Warnings = []string{c.warning}
		if f := only(t, input(st)); strings.Contains(text(f), c.words) != c.is {
			t.Errorf("%s:\n%s", c.warning, text(f))
		}
	}
}

func TestOddFactsOfAServerAreFindings(t *testing.T) {
	t.Parallel()
	st := state(led("a", "host-1:1"))
	st.Scopes[0].About.Config = []sources.Attr{{Key: sources.LockTable, Value: "6400 entries, 85 % taken by advisory locks", Odd: true}, {Key: "db", Value: "0"}}
	f := only(t, input(st))
	if has(t, f, "lock-table-full\n", "85 % taken"); f.Severity.String() != "worth a look" {
		t.Errorf("%+v", f)
	}
	st.Scopes[0].About.Config = []sources.Attr{{Key: sources.Strays, Value: "3, such as job", Odd: true}}
	has(t, only(t, input(st)), "wrong-server\n", "3, such as job")
	for _, calm := range []func(){
		func() { st.Scopes[0].Health = sources.HealthStale },
		func() { st.Scopes[0].Health, st.Scopes[0].About.Config[0].Odd = sources.HealthLive, false },
	} {
		if calm(); len(Find(input(st))) != 0 {
			t.Errorf("%+v", Find(input(st)))
		}
	}
}

func TestALockOnTwoServers(t *testing.T) {
	t.Parallel()
	a, b := uitest.Row(of("dflockd", uitest.Led("job", "conn 1", uitest.Noon())), 0), uitest.Row(of("dflockd-2", uitest.Led("job", "conn 1", uitest.Noon())), 0)
	for _, r := range []*sources.Row{a, b} {
		r.Owners[0].Session = r.Source // a connection belongs to its server alone
		r.Owners[0].ID = r.Source
		r.Owners[0].Label = r.Source + " conn 1"
	}
	st := state(a, b)
	if found := Find(input(st)); len(found) != 0 {
		t.Errorf("servers that do not agree: %+v", found)
	}
	st.Sources[0].Agree, st.Sources[1].Agree = 1, 1
	has(t, only(t, input(st)), "two-owners job job", "two servers that do not know of each other", "both may do the work")
	a.Owners[0].Attrs = []sources.Attr{{Key: sources.WrongServer, Value: "its hash says locks-2", Odd: true}}
	st.Scopes[0].About.Config = []sources.Attr{{Key: sources.Strays, Value: "1, such as job", Odd: true}}
	has(t, only(t, input(st)), "is the wrong server for it: its hash says locks-2", "a program lists other servers")
}
