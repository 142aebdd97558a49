package redissource

import (
	"testing"
	"time"

	"coordtop/sources"
)

func TestFactsDifferWhereARowDoesButForItsLease(t *testing.T) {
	t.Parallel()
	row := func() *sources.Primitive {
		p, _ := see(newKey("app:lock:x", rule{}), lockReading(0, "host-1:1", time.Minute))
		p.Queue.Waiters = []sources.Waiter{{ID: "w"}}
		return p
	}
	plain := factsOf(row())
	for i, change := range []func(p *sources.Primitive, o *sources.Owner){
		func(p *sources.Primitive, _ *sources.Owner) { p.Note = "n" }, func(p *sources.Primitive, _ *sources.Owner) { p.Limit++ },
		func(p *sources.Primitive, _ *sources.Owner) { p.Queue.Waiters[0].ID = "v" }, func(p *sources.Primitive, _ *sources.Owner) { p.Labels = make([]sources.Attr, 1) },
		func(_ *sources.Primitive, o *sources.Owner) { o.ID, o.Label = "", o.ID+o.Label }, func(_ *sources.Primitive, o *sources.Owner) { o.Guard += "x" },
		func(_ *sources.Primitive, o *sources.Owner) { o.Fence++ }, func(_ *sources.Primitive, o *sources.Owner) { o.Data.Sum++ },
		func(_ *sources.Primitive, o *sources.Owner) { o.Attrs = make([]sources.Attr, 1) },
	} {
		p := row()
		if change(p, &p.Owners[0]); factsOf(p).all == plain.all {
			t.Errorf("change %d makes no difference", i)
		}
	}
	p := row()
	p.Owners[0].Expires, p.At = sources.Stamp{}, time.Time{}
	if factsOf(p) != plain {
		t.Error("the lease makes a difference")
	}
}
