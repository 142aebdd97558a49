package headless

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"coordtop/sources"
)

// batch is how many events are written with one Write at most: more would hold back
// the first line of a burst.
const batch = 256

// WatchOptions are the wishes for a stream of changes.
type WatchOptions struct {
	Format Format
	Names  []string       // only these, as SOURCE, SOURCE/NAME or SOURCE/SPACE/NAME; none: all
	Diag   io.Writer      // takes what is to be said of Names that nothing bears; nil: nothing is said
	Zone   *time.Location // of the times in text; nil: the local one
}

// Watch prints every event, the ones of before the call included, until ctx ends,
// which is no error, or until a Write fails. It blocks in Write as long as out does;
// the Hub does not wait for it, and what it misses meanwhile is counted and printed.
func Watch(ctx context.Context, feed Feed, out io.Writer, o WatchOptions) error {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	w := &watcher{out: out, o: o, spaces: spaces{}}
	for i := range o.Names {
		w.unchecked = append(w.unchecked, i)
	}
	sub := feed.Subscribe(0)
	defer func() { sub.Close() }() // the one of that time
	for {
		events, missed := sub.Events(batch)
		if missed > 0 {
			s := feed.State()
			sub.Close()
			sub = feed.Subscribe(s.LastSeq)
			events = restart(s, o.Names)
		}
		if err := w.print(events, missed); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		if len(w.unchecked) > 0 && o.Diag != nil {
			w.doubt(feed.State())
		}
		if len(events) > 0 && ctx.Err() == nil {
			continue // there may be more, and Wake tells of new ones only
		}
		select {
		case <-ctx.Done():
			return nil
		case <-sub.Wake():
		}
	}
}

type watcher struct {
	out       io.Writer
	o         WatchOptions
	buf       bytes.Buffer
	spaces    spaces
	unchecked []int // the names that may be missing: their sources are not listed yet
}

// doubt warns once of each name that no row of its listed source has, and suggests the one that
// was probably meant.
func (w *watcher) doubt(s *sources.State) {
	w.unchecked = slices.DeleteFunc(w.unchecked, func(i int) bool {
		name := w.o.Names[i]
		if len(s.Sources) == 0 || !readInFull(s, name) {
			return false
		}
		if !isSource(s, name) && len(sources.NamedRows(s.Rows, name, false)) == 0 {
			// Nobody need read it: what is asked for is on the other stream.
			_, _ = fmt.Fprintf(w.o.Diag, "%s: no primitive goes by this name yet%s (its lines come as soon as one does)\n", typedName(s, name, i), meant(s, name))
		}
		return true
	})
}

// print writes a batch with one Write, so that no line is held back.
func (w *watcher) print(events []sources.Event, missed uint64) error {
	w.buf.Reset()
	if missed > 0 {
		if err := w.missed(missed); err != nil {
			return err
		}
	}
	for i := range events {
		w.spaces.see(events[i].Ref)
	}
	for i := range events {
		if !wanted(&events[i], w.o.Names) {
			continue
		}
		if err := w.event(&events[i]); err != nil {
			return err
		}
	}
	if w.buf.Len() == 0 {
		return nil
	}
	_, err := w.out.Write(w.buf.Bytes())
	return err
}

func (w *watcher) event(e *sources.Event) error {
	if w.o.Format == JSON {
		return encode(&w.buf, eventOf(e))
	}
	textEvent(&w.buf, e, w.spaces, w.o.Zone)
	return nil
}

// eventMissed is the event of a line that tells of events which were not printed.
const eventMissed = "missed"

// missed tells of events that were dropped before we read them.
func (w *watcher) missed(n uint64) error {
	detail := fmt.Sprintf("%d events were dropped before they could be written: the state follows", n)
	if w.o.Format == JSON {
		return encode(&w.buf, eventJSON{V: version, At: instant(time.Now()), Event: eventMissed, Known: sources.Told.String(), Missed: n, Detail: &detail})
	}
	fmt.Fprintf(&w.buf, "%s  %-13s  %s\n", time.Now().In(w.o.Zone).Format(clock), eventMissed, detail)
	return nil
}

// restart is the state as events, for a reader that lost its place.
func restart(s *sources.State, names []string) []sources.Event {
	var events []sources.Event
	for _, r := range rows(s, names) {
		e := sources.Event{Seq: s.LastSeq, At: s.At, Kind: sources.EventPresent, Ref: r.Ref, Alias: r.Alias, AliasHow: r.AliasHow, RefKind: r.Kind, How: r.OwnersHow}
		if r.Absent {
			e.Kind = sources.EventAbsent
		}
		if r.Absent || e.How == sources.Unknown {
			e.Detail = r.Note
		}
		if e.How == sources.Unknown && r.Leveled() {
			e.Now = r.Counts()
		}
		if r.Scope < len(s.Scopes) {
			e.Scope = s.Scopes[r.Scope].Name
		}
		if len(r.Owners) > 0 {
			o := &r.Owners[0]
			e.Owner = sources.OwnerRef{ID: o.ID, Label: o.Label, Fence: o.Fence}
		}
		events = append(events, e)
	}
	for _, src := range s.Sources {
		events = append(events, sources.Event{
			Seq: s.LastSeq, At: s.At, Kind: sources.EventSynced, Ref: sources.Ref{Source: src.Name}, How: sources.Told,
			Detail: "the state after what was missed",
		})
	}
	return events
}

// Events reads events in order, as *sources.Subscription does.
type Events interface {
	Wake() <-chan struct{}
	Events(max int) (events []sources.Event, missed uint64)
	Close()
}

// Feed is what Get and Watch read: a Hub, or a script in tests.
type Feed interface {
	State() *sources.State
	Subscribe(from uint64) Events
}

// Over makes a Feed of a Hub.
func Over(h *sources.Hub) Feed { return hubFeed{h} }

type hubFeed struct{ *sources.Hub }

func (f hubFeed) Subscribe(from uint64) Events { return f.Hub.Subscribe(from) }
