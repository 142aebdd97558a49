package incidents

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// moment is a stretch in which something happened: between two questions to a server.
type moment struct{ from, to time.Time }

// length is that of a stretch as a whole.
func (m moment) length() span { return span{m.to.Sub(m.from), m.to.Sub(m.from)} }

// seen is what a server says of a row at an instant.
type seen struct {
	owner   string // "": nobody
	waiters []string
	endless bool // it is owned, and has no end
}

// stay is how long somebody owned a row, or waited for it, or a row had no end.
type stay struct {
	who  string
	from moment
	to   moment // zero: it lasts
}

// truth is what the servers said of a row.
type truth struct {
	terms   []stay
	waits   []stay
	endless []stay
	most    int // waiters at the same time
}

// witness asks servers what is so, every few ms.
type witness struct {
	t    testing.TB
	read func() (map[string]seen, error)
	stop context.CancelFunc
	done sync.WaitGroup

	mu   sync.Mutex
	rows map[string]*truth
}

// looks is the pause between two looks of a witness.
const looks = 10 * time.Millisecond

// newWitness looks at once and then every few ms, until stop or the end of the test.
func newWitness(t testing.TB, read func() (map[string]seen, error)) *witness {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &witness{t: t, read: read, stop: stop, rows: map[string]*truth{}}
	last := time.Now()
	w.look(last)
	w.done.Go(func() { // ends with ctx
		ticker := time.NewTicker(looks)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				now := time.Now()
				w.look(last)
				last = now
			}
		}
	})
	t.Cleanup(w.end)
	return w
}

// end returns when the witness looks no more.
func (w *witness) end() {
	w.stop()
	w.done.Wait()
}

// look compares what is so with what was so at the look that began at last.
func (w *witness) look(last time.Time) {
	now, err := w.read()
	if err != nil {
		w.t.Errorf("asking the server: %v", err)
		return
	}
	at := moment{last, time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	for row := range now {
		if w.rows[row] == nil {
			w.rows[row] = &truth{}
		}
	}
	one := func(who string, is bool) []string {
		if is {
			return []string{who}
		}
		return nil
	}
	for row, r := range w.rows {
		s := now[row]
		r.terms = compare(r.terms, one(s.owner, s.owner != ""), at)
		r.endless = compare(r.endless, one(s.owner, s.endless), at)
		r.waits = compare(r.waits, s.waiters, at)
		r.most = max(r.most, len(s.waiters))
	}
}

// compare ends the stays of those who are not there any more, and begins those of the new ones.
func compare(all []stay, now []string, at moment) []stay {
	running := map[string]bool{}
	for i := range all {
		switch s := &all[i]; {
		case !s.to.to.IsZero():
		case slices.Contains(now, s.who):
			running[s.who] = true
		default:
			s.to = at
		}
	}
	for _, who := range now {
		if !running[who] {
			all = append(all, stay{who: who, from: at})
		}
	}
	return all
}

// of is what was so of a row until now.
func (w *witness) of(row string) truth {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.rows[row]
	if r == nil {
		return truth{}
	}
	return truth{terms: slices.Clone(r.terms), waits: slices.Clone(r.waits), endless: slices.Clone(r.endless), most: r.most}
}

// owner is who owns a row now; "": nobody.
func (w *witness) owner(row string) string {
	terms := w.of(row).terms
	if n := len(terms); n > 0 && terms[n-1].to.to.IsZero() {
		return terms[n-1].who
	}
	return ""
}

// span is a length that lies between two.
type span struct{ min, max time.Duration }

// length is how long a stay was.
func (s stay) length() span { return span{s.to.from.Sub(s.from.to), s.to.to.Sub(s.from.from)} }

// gap is how long nobody owned the row between the term i and the one behind it.
func (t truth) gap(i int) span {
	a, b := t.terms[i].to, t.terms[i+1].from
	return span{max(0, b.from.Sub(a.to)), b.to.Sub(a.from)}
}
