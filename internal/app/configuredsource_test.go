package app

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
)

// plain is a source that does as it is told and remembers what it was asked.
type plain struct {
	password string
	connect  error
	change   sources.Change
	focused  []sources.Ref // what was selected by each Focus
	refresh  int
	closed   int
}

func (p *plain) Connect(context.Context) error { return p.connect }
func (p *plain) Next(context.Context) (sources.Change, error) {
	return p.change, nil
}
func (p *plain) Close() error                          { p.closed++; return nil }
func (p *plain) Focus(_ []sources.Ref, on sources.Ref) { p.focused = append(p.focused, on) }
func (p *plain) Refresh()                              { p.refresh++ }

func TestTheSecretIsLookedForAgainOnlyAfterARefusal(t *testing.T) {
	t.Parallel()
	var made []*plain
	asked, secret, broken := 0, "old", error(nil)
	unreadable := errors.New("no certificate in it")
	c := &configured{
		secret: func(context.Context) (string, error) { asked++; return secret, broken },
		open: func(password string) (sources.Source, error) {
			if unreadable != nil {
				return nil, unreadable
			}
			made = append(made, &plain{password: password})
			return made[len(made)-1], nil
		},
	}
	connect := func() error { return c.Connect(t.Context()) }
	if err := c.Close(); err != nil {
		t.Errorf("closing what was never opened: %v", err)
	}
	before, after := sources.Ref{Name: "before"}, sources.Ref{Name: "after"}
	c.Focus(nil, sources.Ref{Name: "older"})
	c.Focus(nil, before)
	c.Refresh()

	broken = errors.New("no such file")
	if err := connect(); !errors.Is(err, sources.ErrRefused) || !errors.Is(err, broken) || err.Error() != "no such file" {
		t.Fatalf("got %v", err)
	}
	broken = nil
	if err := connect(); !errors.Is(err, sources.ErrRefused) || !errors.Is(err, unreadable) {
		t.Fatalf("got %v", err)
	}
	unreadable, asked = nil, 0
	if err := connect(); err != nil || len(made) != 1 || made[0].password != "old" {
		t.Fatalf("got %v, %v", err, made)
	}
	made[0].connect = errors.New("connection refused")
	if err := connect(); !errors.Is(err, made[0].connect) {
		t.Fatal(err)
	}
	_ = connect()
	if asked != 1 {
		t.Fatalf("asked %d times for a secret that was not refused", asked)
	}
	made[0].connect = refusal{errors.New("WRONGPASS")}
	_ = connect()
	_ = connect() // refused: asks again, the same secret
	if asked != 2 || len(made) != 1 {
		t.Fatalf("asked %d times, made %d sources", asked, len(made))
	}
	secret = "new"
	if err := connect(); err != nil || len(made) != 2 || made[1].password != "new" {
		t.Fatalf("got %v, %d sources", err, len(made))
	}
	c.Focus(nil, after)
	c.Refresh()
	if err := c.Close(); err != nil || made[1].closed != 1 || made[1].refresh != 1 {
		t.Errorf("got %v, %+v", err, made[1])
	}
	if !slices.Equal(made[0].focused, []sources.Ref{before}) || !slices.Equal(made[1].focused, []sources.Ref{before, after}) {
		t.Errorf("the first source was told %v, the second %v", made[0].focused, made[1].focused)
	}
}

func TestAPasswordCommandIsNotRunAtEveryRetryOfARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := &plain{connect: refusal{errors.New("WRONGPASS")}}
		runs, broken := 0, errors.New("no key was touched")
		c := &configured{
			rarely: commandRest,
			secret: func(context.Context) (string, error) { runs++; return "old", broken },
			open:   func(string) (sources.Source, error) { return inner, nil },
		}
		retries := func(want int, text string) {
			t.Helper()
			for range 5 { // in 25 s
				if err := c.Connect(t.Context()); err == nil || err.Error() != text {
					t.Errorf("got %v, want %q", err, text)
				}
				time.Sleep(5 * time.Second)
			}
			if runs != want {
				t.Errorf("run %d times, want %d", runs, want)
			}
		}
		retries(1, "no key was touched")
		broken = nil
		c.Refresh()
		retries(2, "WRONGPASS")
		time.Sleep(commandRest)
		retries(3, "WRONGPASS")
		c.Refresh()
		retries(4, "WRONGPASS")
	})
}

func TestASourceThatCannotBeIsTriedRarely(t *testing.T) {
	t.Parallel()
	reason := errors.New("not installed")
	u := unavailable{reason}
	if err := u.Connect(t.Context()); !errors.Is(err, sources.ErrRefused) || !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	if _, err := u.Next(t.Context()); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}
