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
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	dto "github.com/prometheus/client_model/go"

	"coordtop/internal/history/record"
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
					samples = append(samples, object{"labels": fmt.Sprintf("{%s=%q}", label, subject), "value": 1})
				}
				by := "source"
				if len(subjects) > 0 {
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

// TestTheRulesFireWhenTheyShould plays a story of 40 minutes, scrapes it, and lets Prometheus' own tool decide.
func TestTheRulesFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	s := &tape{series: map[string][]float64{}}
	health := record.Health{Active: true}
	watch(t, "kind=election", func(o *Options) {
		o.Recorder = func() record.Health {
			h := health
			if h.Written.IsZero() {
				h.Written = time.Now()
			}
			return h
		}
		o.Series = 18
	}, func(w *watched) {
		leader, waits, owners, dead := map[string]string{"app:a": "host-1", "app:b": "host-1"}, false, 1, ""
		began := time.Now()
		now := func() (all []*sources.Primitive) {
			for name := range leader {
				if name == dead {
					continue
				}
				p := led(name, leader[name])
				for n := 1; n < owners && name == "app:a"; n++ {
					p.Owners = append(p.Owners, led(name, "other").Owners...)
				}
				all = append(all, p)
			}
			if waits {
				job := led("app:job", "host-1")
				job.Kind = sources.KindMutex
				job.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Label: "w", Since: sources.Stamp{At: began.Add(11 * time.Minute), How: sources.Told}}}}
				all = append(all, job)
			}
			return all
		}
		w.push(true, now()...)
		up, renewed := true, true
		until := func(minute float64) { // each second a look, each 15 s a scrape
			for time.Since(began) < time.Duration(minute*float64(time.Minute)) {
				w.pass(time.Second)
				if renewed {
					w.push(false, now()...)
				}
				if (time.Since(began))%scrapeEvery < time.Second {
					s.scrape(w, up)
				}
			}
		}
		s.scrape(w, true)
		until(2)
		leader["app:b"] = "" // minute 2 to 4: b has no leader
		until(4)
		leader["app:b"] = "host-2"
		until(6)
		owners = 2 // minute 6 to 7: two lead a
		until(7)
		owners = 1
		until(11)
		waits = true // minute 11 to 14: somebody waits for the job
		until(14)
		waits = false
		w.script.Push(sources.Change{Alive: []string{""}, Gone: []sources.Ref{{Source: uitest.Redis, Space: "0", Name: "app:job"}}})
		until(15)
		renewed = false // minute 15 to 16: nobody renews, and the server answers
		until(16)
		renewed = true
		until(18)
		for n := 0.0; n < 4; n++ { // minute 18 to 20: the leader of b dies four times
			dead = "app:b"
			until(18.3 + n/2)
			dead, leader["app:b"] = "", ""
			until(18.4 + n/2)
			leader["app:b"] = fmt.Sprint("host-", n)
			until(18.5 + n/2)
		}
		until(24)
		renewed = false // minute 24 to 27: the server is silent
		w.script.Silence(true)
		until(27)
		w.script.Silence(false)
		renewed = true
		w.push(true, now()...)
		until(30)
		health.Stopped = true // minute 30 to 32: the disk is full
		until(32)
		health.Stopped = false
		leader["app:c"] = "host-1" // there is no room for its series
		until(34)
		up = false // minute 34 to 36: coordtop is gone
		until(36)
		up = true
		until(47)
	})
	redis := []string{uitest.Redis}
	s.check(t, map[time.Duration]alerts{
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
		46*time.Minute + 45*time.Second: {"CoordtopSeriesDropped": {"rec-1"}},
	})
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
