package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// The day that is measured has primitives like the store of BenchmarkStoreScale, but fewer.
const (
	sizedLanes = 8_000
	sizedWrite = 25 * sec // the time that is written at once
)

// BenchmarkStoreSize prints the bytes of each table and index, for each term of a day that a Writer has written.
func BenchmarkStoreSize(b *testing.B) {
	server := localserver.PostgresForTest(b, localserver.PostgresOptions{Config: []string{"shared_buffers = 512MB", "max_wal_size = 4GB", "autovacuum_naptime = 1s"}})
	o := Options{Address: server.URL()}
	for b.Loop() {
		writeDay(b, o)
	}
	conn, err := o.connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	var name string
	var size int64
	err = statements{conn: conn}.Each(b.Context(), "select regexp_replace(c.relname, '_[0-9]{8}', ''), (sum(pg_relation_size(c.oid) + case when reltoastrelid <> 0 then pg_total_relation_size(reltoastrelid) else 0 end)"+
		" / (select count(*) from coordtop.term))::bigint from pg_class c where relnamespace = 'coordtop'::regnamespace and relkind in ('r', 'i') group by 1 order by 2 desc limit 12", nil, []any{&name, &size}, func() {
		fmt.Printf("%-20s %4d bytes a term\n", name, size)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// sized is a primitive of that day.
type sized struct {
	ref  sources.Ref
	mean time.Duration
	next time.Time
	term *sources.Term // nil: nobody owns it
}

// writeDay writes a day in the order of time.
func writeDay(b *testing.B, o Options) {
	b.Helper()
	from := time.Now().UTC().Truncate(day).Add(-day)
	w, err := Begin(b.Context(), o, history.Run{Span: history.Span{From: from, To: from}, Host: "here"})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	lanes := make([]sized, sizedLanes)
	for i := range lanes {
		lanes[i] = sized{ref: scaleRef(i), mean: scaleMean(i), next: from.Add(time.Duration(r.Int64N(int64(5 * m))))}
	}
	seq := uint64(0)
	for n := range int(day / sizedWrite) {
		batch := storetest.BatchOf(0, 0)
		batch.Span = history.Span{From: from.Add(time.Duration(n) * sizedWrite), To: from.Add(time.Duration(n+1) * sizedWrite)}
		if n > 0 {
			batch.Keyframe = nil
		}
		for i := range lanes {
			for lanes[i].next.Before(batch.Span.To) {
				seq++
				lanes[i].change(r, batch, seq)
			}
		}
		if err := w.Write(batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// change ends the term of the primitive and begins another one. 4 terms in 10 are followed by a gap.
func (l *sized) change(r *rand.Rand, batch *history.Batch, seq uint64) {
	c := history.LaneChange{Ref: l.ref, Kind: sources.KindElection, Scope: l.ref.Source}
	e := sources.Event{Seq: seq, At: l.next, Ref: l.ref, RefKind: c.Kind, How: sources.Seen, Kind: sources.EventAcquired}
	at, free := sources.Stamp{At: l.next, How: sources.Seen}, false
	if l.term != nil {
		l.term.End, l.term.Cause, l.term.How = at, sources.CauseReleased, sources.Inferred
		c.Terms, free = append(c.Terms, *l.term), r.IntN(10) < 4
		e.Kind, e.Cause, e.Previous, e.Held = sources.EventOwnerChanged, l.term.Cause, l.term.Owner, l.term.Held()
	}
	if l.term = nil; free {
		e.Kind = sources.EventReleased
		l.next = l.next.Add(100*time.Millisecond + time.Duration(r.Int64N(int64(10*m))))
	} else {
		host := r.IntN(4)
		l.term = &sources.Term{Owner: sources.OwnerRef{ID: fmt.Sprintf("host-%d:%d", host, 4000+host), Label: fmt.Sprintf("host-%d", host)}, Start: at}
		c.Terms = append(c.Terms, *l.term)
		e.Owner, e.Last = l.term.Owner, l.term.Owner
		l.next = l.next.Add(l.mean/2 + time.Duration(r.Int64N(int64(l.mean))))
	}
	batch.Lanes, batch.Events = append(batch.Lanes, c), append(batch.Events, e)
}
