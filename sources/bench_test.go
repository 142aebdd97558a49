package sources

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// benchHub returns a Hub that lists n led elections, and the feed that they came by.
func benchHub(b *testing.B, n int) (*Hub, *hubSource) {
	b.Helper()
	h := NewHub(b.Context(), HubOptions{})
	b.Cleanup(h.Close)
	feeds, err := h.add([]Spec{{Name: "redis"}})
	if err != nil {
		b.Fatal(err)
	}
	set := make([]*Primitive, n)
	for i := range set {
		set[i] = benchPrimitive(i, 0)
	}
	h.apply(feeds[0], Change{Relists: true, Synced: true, Set: set, Alive: []string{""}})
	return h, feeds[0]
}

// benchPrimitive is as redissource tells it: a name, a legible owner, a guard and a lease.
func benchPrimitive(i, term int) *Primitive {
	now := Wall()
	id := fmt.Sprintf("host-%02d:%d", (i+term)%64, 1000+term%9000)
	return &Primitive{
		Ref:  Ref{Source: "redis", Space: "0", Name: fmt.Sprintf("app:leader:%06d", i)},
		Kind: KindElection, Limit: 1, Taken: 1, LimitHow: Told, OwnersHow: Told, At: now,
		ForgetAfter: time.Hour,
		Owners: []Owner{{
			ID: id, Label: id, Permits: 1, Lease: 30 * time.Second,
			Expires: StampBetween(now.Add(29*time.Second), now.Add(30*time.Second), Told),
			Guard:   fmt.Sprintf("%040x", i),
		}},
	}
}

// BenchmarkChangeToEvent measures from a Change to its event at a subscriber in another
// goroutine, at 10,000 changes of owner a second: in many rows, and in few, whose histories
// fill up.
func BenchmarkChangeToEvent(b *testing.B) {
	for _, rows := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) { changeToEvent(b, rows) })
	}
}

func changeToEvent(b *testing.B, rows int) {
	const perSecond = 10_000
	h, f := benchHub(b, rows)
	sub := h.Subscribe(h.State().LastSeq)
	delays := make([]time.Duration, 0, b.N)
	var reader sync.WaitGroup
	reader.Go(func() {
		for len(delays) < b.N {
			<-sub.Wake()
			events, _ := sub.Events(0)
			now := time.Now()
			for i := range events {
				if events[i].Kind == EventOwnerChanged {
					delays = append(delays, now.Sub(events[i].At))
				}
			}
		}
	})
	changes := make([]*Primitive, b.N)
	for i := range changes {
		changes[i] = benchPrimitive(i*7919%rows, 1+i/rows)
	}
	runtime.GC()
	b.ResetTimer()
	began, cpu := time.Now(), processCPU(b)
	for i, p := range changes {
		due := began.Add(time.Duration(i) * time.Second / perSecond)
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
		}
		h.apply(f, Change{Set: []*Primitive{p}, At: Wall()})
	}
	reader.Wait()
	elapsed := time.Since(began)
	b.ReportMetric(float64(processCPU(b)-cpu)/float64(elapsed)*100, "%core")
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds()), "us-p50")
	b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds()), "us-p99")
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), "changes/s")
}

// BenchmarkPublish measures one publish of 100,000 rows.
func BenchmarkPublish(b *testing.B) {
	h, _ := benchHub(b, 100_000)
	b.ResetTimer()
	for b.Loop() {
		h.mu.Lock()
		h.publishLocked(h.clock.Now())
		h.mu.Unlock()
	}
}

// BenchmarkMemory measures what one led election costs: the primitive with its strings,
// its owner, the row, a term, slots and index, without the event ring.
func BenchmarkMemory(b *testing.B) {
	const rows = 100_000
	for b.Loop() {
		before := heap()
		h := NewHub(b.Context(), HubOptions{Events: 1})
		feeds, err := h.add([]Spec{{Name: "redis"}})
		if err != nil {
			b.Fatal(err)
		}
		h.apply(feeds[0], Change{Relists: true, Alive: []string{""}})
		for i := range rows {
			h.apply(feeds[0], Change{Set: []*Primitive{benchPrimitive(i, 0)}})
		}
		h.apply(feeds[0], Change{Synced: true})
		h.Close()
		b.ReportMetric(float64(heap()-before)/rows, "B/primitive")
		runtime.KeepAlive(h)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
