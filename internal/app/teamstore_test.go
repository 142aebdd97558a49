package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/history"
	"coordtop/internal/history/postgres"
	"coordtop/internal/localserver"
	"coordtop/internal/mute"
	"coordtop/internal/operate"
	"coordtop/sources"
)

func TestThePasswordCommandOfTheStoreRunsRarely(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	st := &settings{lookup: func(string) (string, bool) { return "", false }}
	o := st.placeOf(config.History{URL: "postgres://u@h/d", Group: "eu", PasswordCommand: []string{"sh", "-c", "echo ran >> " + log + "; echo secret"}}, "/state")
	for range 3 {
		if text, err := o.team.Password(t.Context()); text != "secret" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	if ran, err := os.ReadFile(log); string(ran) != "ran\n" {
		t.Errorf("the command ran %d times: %v", strings.Count(string(ran), "\n"), err)
	}
	if o.team.Schema != "coordtop_eu" || o.Path != "/state/eu-spool.db" || strings.Contains(o.String(), "secret") {
		t.Errorf("the store is %v, its spool %s", o, o.Path)
	}
}

// TestATeamSharesWhatCommandsDoAndWhatIsMuted leads with a member's campaign up to its end, and mutes from the machine of
// another one.
func TestDoctorExaminesTheStoreOfAConfigThatNamesNoSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, configFile, "team: all\nhistory: {url: 'postgres://nobody@127.0.0.1:1/coordtop'}\n")
	if code := w.main(t.Context(), "doctor"); code != 10 || !strings.Contains(w.stdout.String(), "fail recorder") || !strings.Contains(w.stdout.String(), "127.0.0.1:1/coordtop") {
		t.Errorf("exit code %d: %s%s", code, w.stdout, w.stderr)
	}
}

func TestATeamSharesWhatCommandsDoAndWhatIsMuted(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	store := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	set(t, writer(t, server.Addr()), "job", "host-1:7", 0) // without a lease, which is a problem
	member := func() *world {
		w := newWorld(t)
		w.record = true
		w.write(t, configFile, "history: {url: \""+store.URL()+"\"}\nsources: [{name: leases, url: 'redis://"+server.Addr()+"/0', watch: [{mutex: job}, {election: lead}]}]\n")
		return w
	}
	recorder, ana, ben := member(), member(), member()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- recorder.main(ctx, "record") }() // received at the end
	defer func() { cancel(); <-done }()
	recorder.stderr.await(t, func(s string) bool { return strings.Contains(s, "recording into postgres://") })
	h := holdsIn(t, []string{"HOME=" + ana.home, "COORDTOP_CONFIG=" + filepath.Join(ana.home, configFile)}, "", "campaign", "--write", "--yes", "leases/lead")
	h.line(1, "acquired")
	h.signals(syscall.SIGTERM)
	h.ends(exitOK)
	kept, err := os.ReadFile(filepath.Join(ana.home, ".local", "state", "coordtop", auditName))
	if err != nil {
		t.Fatal(err)
	}
	o := postgres.Options{Address: store.URL()}
	acts, err := postgres.ReadAudit(t.Context(), o)
	shared := ""
	list, _ := acts.List()
	for _, act := range list {
		shared += strings.TrimSpace(act.Line) + "\n"
	}
	if err != nil || shared != string(kept) || !strings.Contains(shared, `"resign`) {
		t.Errorf("shared, %v:\n%s\nin the file:\n%s", err, shared, kept)
	}
	if code := ana.main(t.Context(), "why"); code != exitFailed {
		t.Errorf("exit code %d: %s", code, ana.stderr)
	}
	log := operate.NewAuditLog(filepath.Join(ben.home, ".local", "state", "coordtop", auditName), operate.Actor{User: "ben", Host: "desk"})
	elsewhere := postgres.Options{Address: strings.Replace(o.Address, "127.0.0.1", "localhost", 1)} // another way to the same store
	shareAudit(t.Context(), log, place{team: &elsewhere}, nil)
	for text, recording := range map[string]string{"deploy 7": elsewhere.Place(), "of another recording": "elsewhere"} {
		if err := log.Write(t.Context(), operate.Record{ID: text, Stage: operate.Only, Action: action.NoteAction, Detail: text, About: time.Now(), Recording: recording}); err != nil {
			t.Fatal(err)
		}
	}
	err = operate.NewMutes(log).Add(t.Context(), mute.Mute{At: time.Now(), Until: time.Now().Add(time.Hour), Filter: "source=leases", Servers: map[string]string{"leases": "redis://" + server.Addr() + "/0"}})
	if log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"why", "--unacknowledged"}, {"get", "--fail-on", "any", "--unacknowledged"}, {"get", "--fail-on", "any", "--unacknowledged", "--from", "all"}} {
		if code := ana.main(t.Context(), args...); code != exitOK {
			t.Errorf("%v: exit code %d: %s%s", args, code, ana.stdout, ana.stderr)
		}
	}
	if code := ana.main(t.Context(), "report"); code != exitOK || !strings.Contains(ana.stdout.String(), "deploy 7") || strings.Contains(ana.stdout.String(), "another recording") {
		t.Errorf("the report lacks the note of another member: exit code %d: %s%s", code, ana.stdout, ana.stderr)
	}
	if code := ana.main(t.Context(), "doctor"); code != exitOK || !strings.Contains(ana.stdout.String(), " records, 0 stand by") {
		t.Errorf("doctor on the store: exit code %d: %s%s", code, ana.stdout, ana.stderr)
	}
	reader := postgres.NewReader(o)
	defer reader.Close()
	within, end := context.WithTimeout(t.Context(), 20*time.Second)
	defer end()
	for notes := []history.Event(nil); len(notes) == 0; _ = backoff.Sleep(within, 50*time.Millisecond) {
		if notes, err = reader.Events(within, time.Now(), 10, 0, history.EventFilter{Kinds: []sources.EventKind{sources.EventNote}}); err != nil {
			t.Fatalf("the recorder has not taken the note: %v", err)
		}
		if len(notes) > 1 || len(notes) == 1 && notes[0].Detail != "deploy 7" {
			t.Errorf("recorded notes: %+v", notes)
		}
	}
}
