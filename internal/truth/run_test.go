package truth

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coordtop/internal/localserver"
)

var (
	program = flag.String("program", "", "compare this program with the truth, instead of one built now")
	seed    = flag.Uint64("seed", 0, "repeat what the actors do; 0: draw a seed")
	steps   = flag.Int("steps", 120, "how many random steps on each backend")
	cuts    = flag.Int("cuts", 3, "how often the program's connections are cut meanwhile")
	slack   = flag.Duration("slack", 100*time.Millisecond, "how late a push or a look may be on this machine")
	binary  built
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// actor is a stranger to the program that changes rows and writes down what it did.
type actor interface {
	// step does one random thing.
	step()
	// settle waits until nothing changes by itself any more.
	settle()
}

// trial is one comparison.
type trial struct {
	t       *testing.T
	random  *rand.Rand
	history *history
	proxy   *localserver.Proxy
	pace    time.Duration // between two steps, on average
	harm    []fault       // what else than the proxy does can go wrong
}

func newTrial(t *testing.T, target string) *trial {
	t.Helper()
	binary.programPath(t) // to build it can take a minute, in which the first leases would end
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d: repeat it with -seed %d -steps %d -cuts %d", s, s, *steps, *cuts)
	return &trial{t: t, random: rand.New(rand.NewPCG(s, 0)), history: newHistory(), proxy: localserver.ProxyForTest(t, target), pace: 40 * time.Millisecond}
}

// run lets the actor work under the eyes of the program at url, which goes through the
// proxy, and compares. sampled: the changes are found by looks.
func (r *trial) run(a actor, url string, sampled bool, rules rules) {
	r.t.Helper()
	w, rules := r.begin(url, sampled, rules)
	outages := r.outages(rules.proved)
	for i := range *steps {
		outages.at(i)
		a.step()
		r.pause(time.Duration(r.random.ExpFloat64() * float64(r.pace)))
	}
	outages.end()
	r.end(w, a.settle, rules)
}

// begin starts the program and waits until it has read all.
func (r *trial) begin(url string, sampled bool, judged rules) (*watch, rules) {
	r.t.Helper()
	path := binary.programPath(r.t)
	if sampled {
		judged.interval = sampling(r.t, path, url)
	}
	judged.slack = *slack
	w := startWatch(r.t, path, url)
	if !w.await(func(lines []line) bool { return len(lines) > 0 && lines[len(lines)-1].Event == "synced" }) {
		r.t.Fatalf("the program never was synced: %s", w.errs.String())
	}
	return w, judged
}

// end compares all lines with the truth, when nothing changes any more and the program shows it.
func (r *trial) end(w *watch, settle func(), rules rules) {
	r.t.Helper()
	settle()
	owners, waiters := r.history.owners(), r.history.waiters()
	if !w.await(func(lines []line) bool { return shows(lines, owners, waiters) }) {
		r.t.Error("the program does not show the true owners and queues in the end")
	}
	lines := w.stop()
	v := check(lines, r.history, rules)
	r.t.Logf("%d lines, %d true changes, sampling %v\n%s", len(lines), r.history.sum, rules.interval, v)
	for i, lie := range v.lies {
		if i == 30 {
			r.t.Errorf("and %d more", len(v.lies)-i)
			break
		}
		r.t.Error(lie)
	}
	if r.t.Failed() {
		r.keep(lines)
	}
}

func (r *trial) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// keep writes the lines of a run that failed to a file, and what really happened.
func (r *trial) keep(lines []line) {
	f, err := os.CreateTemp("", "coordtop-truth-*.json")
	if err != nil {
		r.t.Log(err)
		return
	}
	defer f.Close()
	for i := range lines {
		if _, err := f.WriteString(lines[i].text + "\n"); err != nil {
			r.t.Log(err)
			return
		}
	}
	for row, changes := range r.history.rows {
		for _, c := range changes {
			text := fmt.Sprintf("true %s: %s-%s %s %s %q %s%s\n", row, clock(c.from), clock(c.to), c.what, c.id, c.who, c.cause, c.data)
			if _, err := f.WriteString(text); err != nil {
				r.t.Log(err)
				return
			}
		}
	}
	r.t.Logf("the lines and the truth are in %s", f.Name())
}
