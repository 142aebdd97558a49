package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	dto "github.com/prometheus/client_model/go"

	"coordtop/internal/history/record"
	"coordtop/internal/objective"
	"coordtop/sources"
	"coordtop/ui/uitest"
)

const scrapeEvery = 15 * time.Second

// tape has what a Prometheus gets that scrapes every 15 s. NaN: no sample.
type tape struct {
	series map[string][]float64
	n      int
}

// scrape adds what the metrics are now, or that coordtop does not answer.
func (s *tape) scrape(w *watched, up bool) {
	w.Helper()
	at := func(name string, v float64) {
		for len(s.series[name]) < s.n {
			s.series[name] = append(s.series[name], math.NaN())
		}
		s.series[name] = append(s.series[name], v)
	}
	at(`up{instance="rec-1",job="coordtop"}`, truth(up))
	var all []*dto.MetricFamily
	if up {
		var err error
		if all, err = w.registry.Gather(); err != nil {
			w.Fatal(err)
		}
	}
	for _, f := range all {
		for _, m := range f.Metric {
			labels := []string{`instance="rec-1"`, `job="coordtop"`}
			for _, l := range m.Label {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			sort.Strings(labels)
			at(f.GetName()+"{"+strings.Join(labels, ",")+"}", m.GetGauge().GetValue()+m.GetCounter().GetValue())
		}
	}
	s.n++
}

// values writes a series for promtool.
func values(list []float64, n int) string {
	words := make([]string, 0, n)
	for i := range n {
		if i >= len(list) || math.IsNaN(list[i]) {
			words = append(words, "stale")
			continue
		}
		words = append(words, strconv.FormatFloat(list[i], 'g', -1, 64))
	}
	return strings.Join(words, " ")
}

// alerts are the names of rules and what fires of each: SUBJECT, the name of a primitive or else the source or instance.
type alerts map[string][]string

type object = map[string]any

// check lets promtool compare what fires at some times, by the time since the start, with want. Alerts that are not
// named must not fire.
func (s *tape) check(t *testing.T, want map[time.Duration]alerts) {
	t.Helper()
	dir := t.TempDir()
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				Labels      map[string]string `yaml:"labels"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(Rules), &rules); err != nil {
		t.Fatal(err)
	}
	var series, tests []object
	for name, list := range s.series {
		series = append(series, object{"series": name, "values": values(list, s.n)})
	}
	named := map[string]bool{}
	for at, fires := range want {
		for _, g := range rules.Groups {
			for _, r := range g.Rules {
				// ALERTS has the labels of an alert, and no texts; count by subject.
				subjects := fires[r.Alert]
				named[r.Alert] = named[r.Alert] || len(subjects) > 0
				samples := []object{}
				for _, subject := range subjects {
					label := map[bool]string{true: "instance", false: "source"}[subject == "rec-1"]
					if strings.HasPrefix(subject, "app:") {
						label = "name"
					}
					labels := fmt.Sprintf("{%s=%q}", label, subject)
					if subject == "" { // it is about all
						labels = "{}"
					}
					samples = append(samples, object{"labels": labels, "value": 1})
				}
				by := "source"
				if len(subjects) > 0 && subjects[0] != "" {
					by = strings.SplitN(strings.Trim(samples[0]["labels"].(string), "{"), "=", 2)[0]
				}
				tests = append(tests, object{"expr": fmt.Sprintf(`group by (%s) (ALERTS{alertname=%q,alertstate="firing"})`, by, r.Alert), "eval_time": at.String(), "exp_samples": samples})
			}
		}
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if !named[r.Alert] {
				t.Errorf("the story has no case of %s", r.Alert)
			}
		}
	}
	file, err := json.Marshal(object{"rule_files": []string{"rules.yaml"}, "evaluation_interval": scrapeEvery.String(),
		"tests": []object{{"interval": scrapeEvery.String(), "input_series": series, "promql_expr_test": tests}}})
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "test.yaml"), file, 0o600), os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(Rules), 0o600)); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "check", "rules", "rules.yaml")
	promtool(t, dir, "test", "rules", "test.yaml")
}

// promtool runs Debian's program of the package prometheus, which make deps installs.
func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatal("promtool is missing: make deps, or apt-get install prometheus")
	}
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// story is the state of the server in a story, as its source reads it each second.
type story struct {
	*watched
	*tape
	began   time.Time
	leader  map[string]string
	dead    string // its leader does not renew any more
	waits   bool   // somebody waits for the job
	owners  int    // of app:a
	renewed bool
	up      bool
	stopped atomic.Bool // the recording cannot be written
	away    atomic.Bool // the store of the team takes nothing
	standby atomic.Bool
}

// read returns what the source reads now.
func (s *story) read() (all []*sources.Primitive) {
	for name := range s.leader {
		if name == s.dead {
			continue
		}
		p := led(name, s.leader[name])
		for n := 1; n < s.owners && name == "app:a"; n++ {
			p.Owners = append(p.Owners, led(name, "other").Owners...)
		}
		all = append(all, p)
	}
	if s.waits {
		job := led("app:job", "host-1")
		job.Kind = sources.KindMutex
		job.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Label: "w", Since: sources.Stamp{At: s.began.Add(11 * time.Minute), How: sources.Told}}}}
		all = append(all, job)
	}
	return all
}

// until lets time pass until a minute of the story, with a look each second and a scrape each 15.
func (s *story) until(minute float64) {
	for time.Since(s.began) < time.Duration(minute*float64(time.Minute)) {
		s.pass(time.Second)
		if s.renewed {
			s.push(false, s.read()...)
		}
		if time.Since(s.began)%scrapeEvery < time.Second {
			s.tape.scrape(s.watched, s.up)
		}
	}
}

// Health is that of the recorder.
func (s *story) Health() record.Health {
	return record.Health{Active: !s.standby.Load(), Written: time.Now(), Stopped: s.stopped.Load()}
}

// Store is that of the team.
func (s *story) Store() (takes bool, until time.Time) { return !s.away.Load(), time.Now() }

// play plays 49 minutes.
func (s *story) play() {
	s.push(true, s.read()...)
	s.tape.scrape(s.watched, true)
	s.until(2)
	s.leader["app:b"] = "" // minute 2 to 4: b has no leader
	s.until(4)
	s.leader["app:b"] = "host-2"
	s.until(6)
	s.owners = 2 // minute 6 to 7: two lead a
	s.until(7)
	s.owners = 1
	s.until(11)
	s.waits = true // minute 11 to 14: somebody waits for the job
	s.until(14)
	s.waits = false
	s.script.Push(sources.Change{Alive: []string{""}, Gone: []sources.Ref{{Source: uitest.Redis, Space: "0", Name: "app:job"}}})
	s.until(15)
	s.renewed = false // minute 15 to 16: nobody renews, and the server answers
	s.until(16)
	s.renewed = true
	s.until(18)
	for n := 0.0; n < 4; n++ { // minute 18 to 20: the leader of b dies four times
		s.dead = "app:b"
		s.until(18.3 + n/2)
		s.dead, s.leader["app:b"] = "", ""
		s.until(18.4 + n/2)
		s.leader["app:b"] = fmt.Sprint("host-", n)
		s.until(18.5 + n/2)
	}
	s.until(24)
	s.renewed = false // minute 24 to 27: the server is silent
	s.script.Silence(true)
	s.until(27)
	s.script.Silence(false)
	s.renewed = true
	s.push(true, s.read()...)
	s.until(30)
	s.stopped.Store(true) // minute 30 to 32: the disk is full
	s.until(32)
	s.stopped.Store(false)
	s.leader["app:c"] = "host-1" // there is no room for its series
	s.until(34)
	s.up = false // minute 34 to 36: coordtop is gone
	s.until(36)
	s.up = true
	s.away.Store(true) // minute 36 to 38: what is recorded waits
	s.until(38)
	s.away.Store(false)
	s.until(47)
	s.standby.Store(true) // minute 47 to 49: another one should record
	s.until(49)
}

// TestTheRulesFireWhenTheyShould plays a story, scrapes it, and lets Prometheus' own tool decide.
func TestTheRulesFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	s := &story{tape: &tape{series: map[string][]float64{}}, leader: map[string]string{"app:a": "host-1", "app:b": "host-1"}, owners: 1, renewed: true, up: true}
	var keeper *objective.Keeper
	watch(t, "kind=election", func(o *Options) {
		o.Recorder, o.Store, o.Series = s.Health, s.Store, 28
		keeper = judge(t, o, "app:b", "99 % led over 1h", "app:b", "99.9 % led over 30 days")
	}, func(w *watched) {
		s.watched, s.began = w, time.Now()
		w.keep(keeper)
		s.play()
	})
	redis := []string{uitest.Redis}
	want := map[time.Duration]alerts{
		90 * time.Second:                {},
		2*time.Minute + 45*time.Second:  {"CoordtopNoLeader": {"app:b"}},
		3*time.Minute + 45*time.Second:  {"CoordtopNoLeader": {"app:b"}, "CoordtopNeedsPerson": redis},
		5 * time.Minute:                 {},
		6*time.Minute + 45*time.Second:  {"CoordtopTwoOwners": redis},
		10 * time.Minute:                {},
		13*time.Minute + 45*time.Second: {"CoordtopLongWait": redis},
		15*time.Minute + 58*time.Second: {"CoordtopRenewalsLate": redis},
		17*time.Minute + 30*time.Second: {},
		21 * time.Minute:                {"CoordtopLosses": redis},
		26*time.Minute + 45*time.Second: {"CoordtopLosses": redis, "CoordtopSourceSilent": redis},
		29*time.Minute + 50*time.Second: {},
		31*time.Minute + 45*time.Second: {"CoordtopNotRecording": {"rec-1"}},
		33*time.Minute + 45*time.Second: {},
		35*time.Minute + 45*time.Second: {"CoordtopGone": {"rec-1"}},
		37*time.Minute + 45*time.Second: {"CoordtopStoreAway": {"rec-1"}},
		46*time.Minute + 45*time.Second: {"CoordtopSeriesDropped": {"rec-1"}},
		48*time.Minute + 45*time.Second: {"CoordtopNobodyRecords": {""}},
	}
	for at, fires := range want { // since minute 2 b was without a leader for too long, for the rest of the hour
		if at > 3*time.Minute && fires["CoordtopGone"] == nil && fires["CoordtopNobodyRecords"] == nil {
			fires["CoordtopObjectiveMissed"], fires["CoordtopBudgetBurns"] = []string{"rec-1"}, []string{"app:b"}
		}
	}
	s.check(t, want)
}

// TestRulesDashboardAndHelpNameTheMetricsThatThereAre compares names.
func TestRulesDashboardAndHelpNameTheMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	topic, err := os.ReadFile("../help/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]bool)
	for f := range table {
		all[family(f).name()] = true
		if !strings.Contains(string(topic), "`"+table[f].name) {
			t.Errorf("help metrics does not name %s", table[f].name)
		}
	}
	for _, text := range []string{Rules, Dashboard, string(topic)} {
		for _, name := range regexp.MustCompile(`coordtop_[a-z_]*[a-z]`).FindAllString(text, -1) {
			if !all[name] {
				t.Errorf("there is no %s", name)
			}
		}
	}
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(Dashboard), &board); err != nil || board.Title == "" || len(board.Panels) < 10 {
		t.Fatalf("the dashboard: %v, %+v", err, board)
	}
	dir, exprs := t.TempDir(), []object{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, object{"record": "x", "expr": strings.ReplaceAll(target.Expr, "$source", ".*"), "labels": object{"panel": p.Title, "n": fmt.Sprint(len(exprs))}})
		}
	}
	file, err := json.Marshal(object{"groups": []object{{"name": "x", "rules": exprs}}})
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "panels.yaml"), file, 0o600)); err != nil {
		t.Fatal(err)
	}
	promtool(t, dir, "check", "rules", "panels.yaml") // it parses the expressions
}
