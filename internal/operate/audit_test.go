package operate_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
)

func TestEachActionHasALineBeforeAndOneAfter(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Login = "ops"
		b.Call = func(q action.Request) string { return "the call of " + q.Verb.String() + " with " + string(q.Data) }
	}})
	sub := r.hub.Subscribe(0)
	defer sub.Close()
	q := r.ask(action.Campaign, election)
	q.Reason = "a drill"
	r.reaches(r.do(q), action.Seen)
	us := r.owner(election)
	value, err := r.redis().Get(context.Background(), election).Result()
	if err != nil {
		t.Fatal(err)
	}
	r.reaches(r.do(r.ask(action.Resign, election)), action.Seen, action.Sent)
	lines := r.audit()[:3]
	if first := lines[0]; first.Stage != operate.Before || first.Action != "campaign" || first.User != "ana" || first.Host != "desk" ||
		first.SSH != "10.0.0.9:4711" || first.Login != "ops" || first.Source != "s" || first.Space != "0" || first.Name != election ||
		first.Kind != "election" || first.Reason != "a drill" || first.Call != "the call of campaign with ana@desk:1" || first.At.IsZero() || first.Result != "" {
		t.Errorf("the first line is %+v", first)
	}
	if end := lines[1]; end.ID != lines[0].ID || end.Stage != operate.After || end.Result != "done" || end.OwnerAfter != us.ID ||
		end.LatencyMillis == nil || end.At.Before(lines[0].At) {
		t.Errorf("the second line is %+v, we are %s", end, us.ID)
	}
	if resign := lines[2]; resign.ID == lines[0].ID || resign.OwnerBefore != us.ID || resign.LabelBefore != us.Label {
		t.Errorf("the third line is %+v", resign)
	}
	info, err := os.Stat(r.journal)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v", info.Mode())
	}
	text, err := os.ReadFile(r.journal)
	if err != nil {
		t.Fatal(err)
	}
	nonce, _, _ := strings.Cut(value, " ")
	if len(nonce) != 36 || strings.Contains(string(text), nonce) {
		t.Errorf("the nonce %q stands in the audit, or is none", nonce)
	}
	r.until("the Hub was told", func(*sources.State) bool {
		events, _ := sub.Events(0)
		for _, e := range events {
			if e.Kind == sources.EventAction && e.How == sources.Ours && e.Ref.Name == election && campaignSucceeded(e.Detail) {
				return true
			}
		}
		return false
	})
}

// campaignSucceeded reports whether a sentence is that of a campaign that was seen to lead, and says in how much time.
func campaignSucceeded(detail string) bool {
	a, ok := action.AccountOf(detail)
	return ok && a.Verb == "campaign" && strings.HasPrefix(a.Who, "ana@desk") && a.Result == "done" && strings.HasPrefix(a.More, " after ") && strings.HasSuffix(a.More, ": we lead")
}

func TestHostileTextsStayInTheirLineOfTheAudit(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/audit.jsonl"
	j := operate.NewAuditLog(path, operate.Actor{User: "a\x1b[31m"})
	if err := j.Write(t.Context(), operate.Record{Name: "x\n{\"id\":\"forged\"}", LabelBefore: "\u009b2J\u202e\xff\U0001f600"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), "\n") != 1 {
		t.Errorf("more than a line: %q", text)
	}
	for _, b := range text {
		if b != '\n' && (b < ' ' || b > '~') {
			t.Fatalf("a byte that a terminal may obey: %q", text)
		}
	}
	if !strings.Contains(string(text), `\u009b2J`) || !strings.Contains(string(text), `\ud83d\ude00`) {
		t.Errorf("not exact: %q", text)
	}
}

func TestNoFieldOfTheAuditIsMoreThanText(t *testing.T) {
	t.Parallel()
	const nasty = "a\x1b[31m\r\n\x00\x7f\u009b2J\u2028\u202e\"},{\"id\":\"forged\",\xff"
	var r operate.Record
	fields := reflect.ValueOf(&r).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.String {
			f.SetString(nasty)
		}
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	j := operate.NewAuditLog(path, operate.Actor{User: nasty, Host: nasty, SSH: nasty})
	for range 2 {
		if err := j.Write(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != 2 {
		t.Errorf("%d lines: %q", n, text)
	}
	for line := range strings.Lines(string(text)) {
		if strings.ContainsFunc(line[:len(line)-1], func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("what a terminal may obey: %q", line)
		}
		var got operate.Record
		if err := json.Unmarshal([]byte(line), &got); err != nil || !strings.HasPrefix(got.Name, "a\x1b[31m\r\n\x00\x7f\u009b2J") {
			t.Errorf("%v, the name is %q", err, got.Name)
		}
	}
}

func TestWhatWeOwnIsShownByOurIdentity(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	us := r.owner(election)
	if us.Label != "ana@desk:1" || us.ID != r.Status().Holdings[0].Owner {
		t.Errorf("others see %+v", us)
	}
	value, err := r.redis().Get(context.Background(), election).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if v := rediscoord.OwnerOf(value); string(v.Data) != "ana@desk:1" {
		t.Errorf("the data is %q", v.Data)
	}
}

func TestALineThatAFullDiskCutOffDoesNotSpoilTheNext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	const cut = `{"at":"2026-01-02T03:`
	if err := os.WriteFile(path, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	j := operate.NewAuditLog(path, operate.Actor{User: "ana"})
	for _, action := range []string{"acquire", "resign"} {
		if err := j.Write(t.Context(), operate.Record{Action: action}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("the file has %q", text)
	}
	for i, line := range lines {
		var r operate.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if i == 0 && (r.Stage != operate.Torn || r.Detail != cut) {
			t.Errorf("what was left of the first line is %q", line)
		}
	}
}

func TestTheAuditTellsTheActionsOfThisRunFromOthers(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.reaches(r.do(r.ask(action.Try, mutex)), action.Seen)
	other := operate.NewAuditLog(r.journal, operate.Actor{})
	if err := other.Write(t.Context(), operate.Record{ID: "another-1", Stage: operate.Before, Action: "try"}); err != nil {
		t.Fatal(err)
	}
	list, err := r.Audit().Entries()
	if err != nil || len(list) != 2 || !list[0].Ours || list[1].Ours {
		t.Errorf("%+v, %v", list, err)
	}
}
