package headless

import (
	"time"

	"coordtop/sources"
)

type eventJSON struct {
	V         int           `json:"v" is:"version"`
	Seq       uint64        `json:"seq"`
	At        *string       `json:"at" is:"time"`
	After     *string       `json:"after" is:"time"`
	Event     string        `json:"event" is:"event"`
	Source    *string       `json:"source"`
	Scope     *string       `json:"scope"`
	Namespace *string       `json:"namespace"`
	Kind      *string       `json:"kind" is:"kind"`
	Name      *string       `json:"name"`
	NameB64   string        `json:"name_b64,omitempty"`
	Alias     *aliasJSON    `json:"alias"`
	Owner     *newOwnerJSON `json:"owner"`
	Data      *blobJSON     `json:"data"`
	Previous  *ownerRefJSON `json:"previous"`
	Last      *ownerRefJSON `json:"last"`
	LastSeen  *ownerRefJSON `json:"last_seen"`
	Cause     *string       `json:"cause" is:"cause"`
	Known     string        `json:"known" is:"known"`
	GapMS     *intervalJSON `json:"gap_ms"`
	HeldMS    *lengthJSON   `json:"held_ms"`
	Counts    *countsJSON   `json:"counts,omitempty"`
	Detail    *string       `json:"detail"`
	Missed    uint64        `json:"missed,omitempty"`
}

type ownerRefJSON struct {
	ID    string  `json:"id"`
	Label string  `json:"label"`
	Fence *string `json:"fence" is:"number"`
}

// newOwnerJSON is the owner by an event, with what it wrote.
type newOwnerJSON struct {
	ownerRefJSON
	Data *blobJSON `json:"data"`
}

// countsJSON are the counts before and after an event; Before nil: it was so when we first looked.
type countsJSON struct {
	Before *countJSON `json:"before"`
	After  countJSON  `json:"after"`
}

type countJSON struct {
	Taken   int64  `json:"taken"`
	Limit   *int64 `json:"limit"`
	Waiting uint64 `json:"waiting"`
}

func countsOf(e *sources.Event) *countsJSON {
	if e.Was == e.Now {
		return nil
	}
	count := func(c sources.Counts) countJSON {
		limit := nullable(c.Limit > 0, sources.Permits(c.Limit))
		return countJSON{Taken: sources.Permits(c.Taken), Limit: limit, Waiting: c.Waiting}
	}
	return &countsJSON{Before: nullable(e.Kind == sources.EventCountChanged, count(e.Was)), After: count(e.Now)}
}

type intervalJSON struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
	sampledJSON
}

// lengthJSON is a length of time; no max: it may have been any longer.
type lengthJSON struct {
	Min int64  `json:"min"`
	Max *int64 `json:"max"`
	sampledJSON
}

// sampledJSON marks bounds that rest on looks. The zero value marks bounds that hold whatever happened.
type sampledJSON struct {
	How   string `json:"how,omitempty"`
	Every int64  `json:"every_ms,omitempty"`
}

func sampledOf(i sources.Interval) sampledJSON {
	if i.Every <= 0 {
		return sampledJSON{}
	}
	return sampledJSON{How: "sampled", Every: roundedUp(i.Every)}
}

func roundedUp(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

func eventOf(e *sources.Event) eventJSON {
	var data sources.EventData
	if e.Data != nil {
		data = *e.Data
	}
	return eventJSON{
		V: version, Seq: e.Seq, At: instant(e.At), After: instant(e.After), Event: e.Kind.String(),
		Source: orNull(e.Ref.Source), Scope: orNull(e.Scope), Namespace: orNull(e.Ref.Space), Kind: kind(e.RefKind),
		Name: orNull(e.Ref.Name), NameB64: exact(e.Ref.Name), Alias: aliasOf(e.Alias, e.AliasHow),
		Previous: ownerRefOf(e.Previous), Last: ownerRefOf(e.Last), LastSeen: ownerRefOf(e.LastSeen),
		Owner: nullable(e.Owner != (sources.OwnerRef{}), newOwnerJSON{refOfOwner(e.Owner), blob(data.Owner)}), Data: blob(data.Own),
		Known: e.How.String(), GapMS: intervalOf(e.Gap), HeldMS: lengthOf(e.Held), Counts: countsOf(e), Detail: orNull(e.Detail),
		Cause: nullable(e.Previous != (sources.OwnerRef{}), e.Cause.String()),
	}
}

func refOfOwner(o sources.OwnerRef) ownerRefJSON {
	return ownerRefJSON{ID: text(o.ID), Label: text(o.Label), Fence: number(o.Fence)}
}

// ownerRefOf returns null for the zero OwnerRef.
func ownerRefOf(o sources.OwnerRef) *ownerRefJSON {
	return nullable(o != (sources.OwnerRef{}), refOfOwner(o))
}

// intervalOf rounds outwards, so that the printed bounds hold too. It returns null for the zero Interval.
func intervalOf(i sources.Interval) *intervalJSON {
	return nullable(i != (sources.Interval{}), *knownInterval(i))
}

// knownInterval is intervalOf where the zero Interval is known to be no time at all.
func knownInterval(i sources.Interval) *intervalJSON {
	return &intervalJSON{Min: i.Min.Milliseconds(), Max: roundedUp(i.Max), sampledJSON: sampledOf(i)}
}

func lengthOf(i sources.Interval) *lengthJSON {
	rounded := intervalOf(i)
	if rounded == nil {
		return nil
	}
	return &lengthJSON{rounded.Min, nullable(i.Max != sources.Endless, rounded.Max), rounded.sampledJSON}
}
