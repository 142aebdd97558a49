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

// batch bounds the events that are written with one Write: more would hold back the first line of a
// burst.
const batch = 256

// WatchOptions are the options of Watch.
type WatchOptions struct {
	Format Format
	Names  []string       // only these, as SOURCE, SOURCE/NAME or SOURCE/SPACE/NAME; none: all
	Diag   io.Writer      // gets the warnings about Names that nothing bears; nil: they are not printed
	Zone   *time.Location // of the times in text; nil: the local one
	Data   bool           // text has the data of each event, and not only what was proclaimed

	// Present begins with the state instead of the events from before the call.
	Present bool
}

// Watch prints every event, including those from before the call, until ctx ends, which is no error, or
// until a Write fails. It blocks in Write as long as out does. The Hub does not wait for it: Watch counts
// the events that it misses while it blocks, and prints their number.
func Watch(ctx context.Context, feed Feed, out io.Writer, o WatchOptions) error {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	w := &watcher{out: out, o: o, spaces: spaces{}}
	for i := range o.Names {
		w.unchecked = append(w.unchecked, i)
	}
	var from uint64
	if o.Present {
		s := feed.State()
		from = s.LastSeq
		if err := w.print(restart(s, o.Names), 0); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	sub := feed.Subscribe(from)
	defer func() { sub.Close() }() // the newest one
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

// doubt warns once of each name that no row of its listed source has, and suggests a name that resembles
// it.
func (w *watcher) doubt(s *sources.State) {
	w.unchecked = slices.DeleteFunc(w.unchecked, func(i int) bool {
		name := w.o.Names[i]
		if len(s.Sources) == 0 || !readInFull(s, name) {
			return false
		}
		if !isSource(s, name) && len(sources.NamedRows(s.Rows, name, false)) == 0 {
			// Its error is ignored: the events go to the other stream.
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
	textEvent(&w.buf, e, w.spaces, w.o.Zone, w.o.Data)
	return nil
}

// eventMissed is the event of a line about events that were not printed.
const eventMissed = "missed"

// missed writes the line about events that were dropped before we read them.
func (w *watcher) missed(n uint64) error {
	detail := fmt.Sprintf("%d events were dropped before they could be written: the state follows", n)
	if w.o.Format == JSON {
		return encode(&w.buf, eventJSON{V: version, At: instant(time.Now()), Event: eventMissed, Known: sources.Told.String(), Missed: n, Detail: &detail})
	}
	fmt.Fprintf(&w.buf, "%s  %-13s  %s\n", time.Now().In(w.o.Zone).Format(clock), eventMissed, detail)
	return nil
}

// restart returns the state as events, for a reader that lost its place.
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
			e.SetData(r.Primitive, o)
		} else {
			e.SetData(r.Primitive, nil)
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

// Feed gives Get and Watch the states and events of a Hub, or of a script in tests.
type Feed interface {
	State() *sources.State
	Subscribe(from uint64) Events
}

// Now returns the time on the clock of a feed: that of its method Now, if it has one, because another program may have
// seen its states.
func Now(feed Feed) time.Time {
	if c, ok := feed.(interface{ Now() time.Time }); ok {
		return c.Now()
	}
	return time.Now()
}

// Over returns the Feed of a Hub.
func Over(h *sources.Hub) Feed { return hubFeed{h} }

type hubFeed struct{ *sources.Hub }

func (f hubFeed) Subscribe(from uint64) Events { return f.Hub.Subscribe(from) }
