package operate

import (
	"errors"
	"fmt"
	"testing"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

func TestWhatOurWatchShowsOfARequest(t *testing.T) {
	t.Parallel()
	deleted := []sources.Event{{Kind: sources.EventReleased}, {Kind: sources.EventDeleted}}
	row := func(change func(p *sources.Primitive)) *sources.Row {
		p := &sources.Primitive{Data: sources.NewBlob([]byte("old"), 3)}
		change(p)
		return &sources.Row{Primitive: p}
	}
	as := row(func(*sources.Primitive) {})
	absent, noSpace := row(func(p *sources.Primitive) { p.Absent = true }), row(func(p *sources.Primitive) { p.NoSpace = true })
	written := row(func(p *sources.Primitive) { p.Data = sources.NewBlob([]byte("new"), 3) })
	for _, c := range []struct {
		verb   action.Verb
		row    *sources.Row
		events []sources.Event
		want   bool
	}{
		{action.Delete, nil, nil, false}, {action.Delete, as, nil, false}, {action.Delete, absent, nil, true}, {action.Delete, nil, deleted, true},
		{action.Delete, as, deleted, true}, {action.Delete, as, deleted[:1], false},
		{action.Create, nil, nil, false}, {action.Create, absent, nil, false}, {action.Create, as, nil, true},
		{action.Update, nil, nil, false}, {action.Update, as, nil, false}, {action.Update, written, nil, true},
		{action.CreateNode, nil, nil, false}, {action.CreateNode, noSpace, nil, false}, {action.CreateNode, absent, nil, true},
	} {
		if got := shows(action.Request{Verb: c.verb, Data: []byte("new")}, c.row, c.events); got != c.want {
			t.Errorf("%v, row %+v, events %v: %v", c.verb, c.row, c.events, got)
		}
	}
}

func TestWhichErrorsTellWhatBecameOfARequest(t *testing.T) {
	t.Parallel()
	type known struct{ provision, proclaim bool }
	for err, want := range map[error]known{
		errNotSent: {true, false}, errOtherData: {true, false}, coord.ErrRefused: {true, false}, coord.ErrNotFound: {true, false},
		coord.ErrUnsupported: {true, true}, coord.ErrDataTooLong: {true, true}, coord.ErrInvalid: {true, true},
		coord.ErrLost: {false, true}, coord.ErrExpired: {false, true}, coord.ErrReleased: {false, true}, coord.ErrClosed: {false, true},
		coord.ErrUncertain: {}, errors.New("cut off"): {},
	} {
		wrapped := fmt.Errorf("asking: %w", err)
		if got := (known{decided(wrapped), settled(wrapped)}); got != want {
			t.Errorf("%v: %+v, want %+v", err, got, want)
		}
	}
}
