package sourcetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/pprof"
	"strings"
	"time"

	"coordtop/sources"
)

func listsWithGapAndSynced(_ context.Context, _ Fixture, r *reader) error {
	for name, l := range r.scopes {
		if l.gaps != l.syncs {
			return broken("scope %q: %d gaps and %d Synced", name, l.gaps, l.syncs)
		}
	}
	for _, p := range r.prims {
		if len(p.Owners) > 0 {
			return nil
		}
	}
	return broken("the listing of %d primitives shows no owner", len(r.prims))
}

func primitivesAreWellFormed(_ context.Context, _ Fixture, r *reader) error {
	for ref, p := range r.prims {
		if err := wellFormed(p); err != nil {
			return fmt.Errorf("%v: %w", ref, err)
		}
	}
	return nil
}

func wellFormed(p *sources.Primitive) error {
	blobs := []sources.Blob{p.Data}
	ids := map[string]bool{}
	for _, o := range p.Owners {
		id := fmt.Sprint(o.ID, " ", o.Fence)
		switch {
		case o.ID == "":
			return broken("an owner without ID")
		case ids[id]:
			return broken("owner %s is told twice", id)
		case o.NoExpiry && o.Expires.How != sources.Unknown:
			return broken("owner %s has no expiry and expires", id)
		}
		ids[id] = true
		blobs = append(blobs, o.Data)
	}
	for _, b := range blobs {
		if len(b.Head) > sources.BlobHead || len(b.Head) > b.Len {
			return broken("a value of %d bytes with a head of %d", b.Len, len(b.Head))
		}
	}
	switch {
	case p.Source == "" || p.Name == "":
		return broken("no source or no name")
	case !reflect.DeepEqual(p, stored(reflect.ValueOf(p)).Interface()):
		return broken("a time that is not as Primitive.OnWallClock leaves it: %+v", *p)
	case p.At.IsZero() && p.OwnersHow != sources.Unknown:
		return broken("owners are known of what was not read")
	case p.At.After(time.Now().Add(time.Minute)):
		return broken("read in the future, at %v", p.At)
	case p.Queue.How == sources.Unknown && p.Queue.Len > 0, p.Queue.Len < len(p.Queue.Waiters):
		return broken("a queue of %d with %d waiters, %v", p.Queue.Len, len(p.Queue.Waiters), p.Queue.How)
	}
	return nil
}

func nextReturnsSoon(ctx context.Context, _ Fixture, r *reader) error {
	return r.some(ctx)
}

// some calls next a few times.
func (r *reader) some(ctx context.Context) error {
	for range 3 {
		if err := r.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func aliveGoesOn(ctx context.Context, _ Fixture, r *reader) error {
	began := time.Now()
	return r.until(ctx, "more proof of life of every scope", func() bool {
		for name := range r.scopes {
			if !r.alive[name].After(began) {
				return false
			}
		}
		return true
	})
}

func frozenIsNotAlive(ctx context.Context, f Fixture, r *reader) error {
	thaw := f.Freeze()
	defer thaw()
	frozen := time.Now()
	const grace, watch = 1500 * time.Millisecond, 4 * time.Second // answers may still arrive; after that none can
	for time.Since(frozen) < watch {
		err := r.next(ctx)
		if errors.Is(err, errContract) {
			return err
		}
		if err != nil {
			return nil // ending the connection is as good as staying silent
		}
		for name, at := range r.alive {
			if at.Sub(frozen) > grace {
				return broken("scope %q is told alive %v after its server was frozen", name, at.Sub(frozen))
			}
		}
	}
	return nil
}

func changeIsTold(ctx context.Context, f Fixture, r *reader) error {
	before := owners(r.prims)
	f.Change()
	return r.until(ctx, "the changed owner", func() bool { return owners(r.prims) != before })
}

// owners returns a sorted text of who owns what.
func owners(prims map[sources.Ref]*sources.Primitive) string {
	byRef := map[string]string{} // fmt prints maps by key
	for ref, p := range prims {
		for _, o := range p.Owners {
			byRef[fmt.Sprint(ref)] += fmt.Sprint(o.ID, " ", o.Fence, " ")
		}
	}
	return fmt.Sprint(byRef)
}

func handedOverIsNotChanged(ctx context.Context, f Fixture, r *reader) error {
	type copied struct {
		p    *sources.Primitive
		text string
	}
	var kept []copied
	for _, p := range r.prims {
		kept = append(kept, copied{p, fmt.Sprintf("%+v", *p)})
	}
	if err := changeIsTold(ctx, f, r); err != nil {
		return err
	}
	if err := f.Source.Close(); err != nil {
		return fmt.Errorf("Close: %w", err)
	}
	for _, k := range kept {
		if now := fmt.Sprintf("%+v", *k.p); now != k.text {
			return broken("a primitive changed after it was handed over:\n%s\n%s", k.text, now)
		}
	}
	return nil
}

func cancelledConnectFails(ctx context.Context, f Fixture) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	began := time.Now()
	if err := f.Source.Connect(ctx); err == nil {
		return broken("Connect succeeds although its context had ended")
	}
	if took := time.Since(began); took > nextLimit {
		return broken("Connect takes %v although its context had ended", took)
	}
	return nil
}

func cancelEndsNext(ctx context.Context, _ Fixture, r *reader) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	for range 1000 { // earlier reads may still be reported
		if err := r.next(ctx); err != nil {
			if errors.Is(err, errContract) {
				return err
			}
			return nil
		}
	}
	return broken("Next goes on although its context has ended")
}

func closeTwice(_ context.Context, f Fixture, _ *reader) error {
	for i := range 2 {
		if err := f.Source.Close(); err != nil {
			return fmt.Errorf("Close number %d: %w", i+1, err)
		}
	}
	return nil
}

// closeJoins finds goroutines that outlive Close by a profiler label, which goroutines inherit from the one that starts
// them, so that other tests may run at the same time.
func closeJoins(ctx context.Context, f Fixture) error {
	mark := fmt.Sprintf("sourcetest-%p", f.Source)
	var err error
	pprof.Do(ctx, pprof.Labels("sourcetest", mark), func(ctx context.Context) {
		if _, err = listed(ctx, f.Source); err == nil {
			err = f.Source.Close()
		}
	})
	if err != nil {
		return err
	}
	var left string
	retry := time.NewTicker(10 * time.Millisecond) // a goroutine that has ended may still be on its last instruction
	defer retry.Stop()
	for range 200 {
		if left = marked(mark); left == "" {
			return nil
		}
		<-retry.C
	}
	return broken("goroutines outlive Close:\n%s", left)
}

// marked returns the stacks of the goroutines with this label.
func marked(mark string) string {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return err.Error()
	}
	var found []string
	for _, stack := range strings.Split(all.String(), "\n\n") {
		if strings.Contains(stack, mark) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

func connectsAgain(ctx context.Context, f Fixture, first *reader) error {
	if err := f.Source.Close(); err != nil {
		return fmt.Errorf("Close: %w", err)
	}
	again, err := listed(ctx, f.Source)
	if err != nil {
		return fmt.Errorf("after Close and Connect: %w", err)
	}
	if was, is := owners(first.prims), owners(again.prims); was != is {
		return broken("the second listing differs:\n%s\n%s", was, is)
	}
	return nil
}

func lostConnectionIsTold(ctx context.Context, f Fixture, r *reader) error {
	gaps := r.gaps()
	f.Drop()
	err := r.until(ctx, "an error or a Gap", func() bool { return r.gaps() > gaps })
	if errors.Is(err, errContract) {
		return err
	}
	if err == nil {
		return r.synced(ctx)
	}
	if err := f.Source.Close(); err != nil {
		return fmt.Errorf("Close after a lost connection: %w", err)
	}
	_, err = listed(ctx, f.Source)
	return err
}

func (r *reader) gaps() int {
	n := 0
	for _, l := range r.scopes {
		n += l.gaps
	}
	return n
}

func focusAtAnyTime(ctx context.Context, f Fixture) error {
	poke := func(visible []sources.Ref) {
		if s, ok := f.Source.(sources.Focuser); ok {
			s.Focus(visible, sources.Ref{})
		}
		if s, ok := f.Source.(sources.Refresher); ok {
			s.Refresh()
		}
	}
	poke(nil)
	r, err := listed(ctx, f.Source)
	if err != nil {
		return err
	}
	var refs []sources.Ref
	for ref := range r.prims {
		refs = append(refs, ref)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // joined below
		defer close(stopped)
		for {
			poke(refs)
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	err = r.some(ctx)
	close(stop)
	<-stopped
	if err != nil {
		return err
	}
	err = f.Source.Close()
	poke(refs)
	return err
}
