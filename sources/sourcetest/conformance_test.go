package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
)

// backend plays the server behind a Script.
type backend struct {
	script *Script
	leader int
}

func newFixture() Fixture {
	b := &backend{script: NewScript("main")}
	b.script.OnConnect(func() []sources.Change {
		return []sources.Change{
			{Scope: "main", Relists: true, Set: []*sources.Primitive{{Ref: b.ref("unread")}}},
			{Scope: "main", Set: []*sources.Primitive{b.primitive()}, Synced: true, Alive: []string{"main"}},
		}
	})
	return Fixture{
		Source: b.script,
		Change: func() {
			b.leader++
			b.script.Push(sources.Change{Scope: "main", Set: []*sources.Primitive{b.primitive()}})
		},
		Freeze: func() func() {
			b.script.Silence(true)
			return func() { b.script.Silence(false) }
		},
		Drop: func() { b.script.Fail(errors.New("connection reset")) },
	}
}

func (b *backend) ref(name string) sources.Ref { return sources.Ref{Source: "s", Name: name} }

func (b *backend) primitive() *sources.Primitive {
	return &sources.Primitive{Ref: b.ref("app"), Kind: sources.KindElection, At: time.Now(), OwnersHow: sources.Told,
		Owners: []sources.Owner{{ID: fmt.Sprint("owner ", b.leader)}}}
}

func TestScriptKeepsEveryPromiseOfASource(t *testing.T) {
	t.Parallel()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if err := c.run(t.Context(), newFixture()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// faulty is a source that breaks one promise.
type faulty struct {
	sources.Source
	connect func(context.Context) error
	next    func(context.Context) (sources.Change, error)
	close   func() error
	end     chan struct{} // closed at the end of the test
}

func (f *faulty) Connect(ctx context.Context) error {
	if f.connect != nil {
		return f.connect(ctx)
	}
	return f.Source.Connect(ctx)
}

func (f *faulty) Next(ctx context.Context) (sources.Change, error) {
	if f.next != nil {
		return f.next(ctx)
	}
	return f.Source.Next(ctx)
}

func (f *faulty) Close() error {
	if f.close != nil {
		return f.close()
	}
	return f.Source.Close()
}

// change lets a source tell something else than it should.
func (f *faulty) change(wrong func(*sources.Change)) {
	f.next = func(ctx context.Context) (sources.Change, error) {
		c, err := f.Source.Next(ctx)
		wrong(&c)
		return c, err
	}
}

func TestSuiteFindsEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	tests := []struct {
		check  string
		breaks func(*faulty, *Fixture)
	}{
		{"FirstChangeOfEachScopeCarriesTheGap", func(s *faulty, _ *Fixture) {
			s.change(func(c *sources.Change) { c.Relists = false })
		}},
		{"FirstChangeOfEachScopeCarriesTheGap", func(s *faulty, _ *Fixture) {
			s.change(func(c *sources.Change) { c.Synced = c.Scope == "main" })
		}},
		{"FirstChangeOfEachScopeCarriesTheGap", func(s *faulty, _ *Fixture) {
			s.change(func(c *sources.Change) { c.Set = nil })
		}},
		{"PrimitivesAreWellFormed", func(s *faulty, _ *Fixture) {
			s.change(func(c *sources.Change) {
				for _, p := range c.Set {
					p.Owners = append(p.Owners, p.Owners...)
				}
			})
		}},
		{"PrimitivesAreWellFormed", func(s *faulty, _ *Fixture) {
			s.change(func(c *sources.Change) {
				for _, p := range c.Set {
					p.Data = sources.Blob{Head: strings.Repeat("x", sources.BlobHead+1), Len: 1 << 20}
				}
			})
		}},
		{"PrimitivesAreWellFormed", func(s *faulty, _ *Fixture) {
			s.change(func(c *sources.Change) { // in a bubble no time has a monotonic reading
				for _, p := range c.Set {
					p.At = p.At.In(time.FixedZone("elsewhere", 3600))
				}
			})
		}},
		{"NextReturnsSoonWhenNothingHappens", func(s *faulty, _ *Fixture) {
			s.next = func(ctx context.Context) (sources.Change, error) {
				c, err := s.Source.Next(ctx)
				if !c.Relists && !c.Synced {
					<-time.After(nextLimit)
				}
				return c, err
			}
		}},
		{"ServerIsToldAliveAgainAndAgain", func(s *faulty, f *Fixture) {
			s.Source.(*Script).Silence(true)
		}},
		{"NothingIsToldAliveWhileTheServerIsFrozen", func(_ *faulty, f *Fixture) {
			f.Freeze = func() func() { return func() {} }
		}},
		{"ChangeOfOwnerIsTold", func(_ *faulty, f *Fixture) { f.Change = func() {} }},
		{"WhatWasHandedOverNeverChanges", func(s *faulty, _ *Fixture) {
			var handed []*sources.Primitive
			s.change(func(c *sources.Change) {
				for _, p := range handed {
					p.At = p.At.Add(time.Second)
				}
				handed = append(handed, c.Set...)
			})
		}},
		{"CancelledConnectFails", func(s *faulty, _ *Fixture) {
			s.connect = func(context.Context) error { return nil }
		}},
		{"CancelEndsNext", func(s *faulty, _ *Fixture) {
			s.next = func(ctx context.Context) (sources.Change, error) {
				return s.Source.Next(context.WithoutCancel(ctx))
			}
		}},
		{"CloseMayBeCalledTwice", func(s *faulty, _ *Fixture) {
			closed := false
			s.close = func() error {
				if closed {
					return errors.New("closed already")
				}
				closed = true
				return nil
			}
		}},
		{"CloseJoinsEveryGoroutine", func(s *faulty, _ *Fixture) {
			s.connect = func(ctx context.Context) error {
				go func() { <-s.end }() // left behind on purpose until the test is over
				return s.Source.Connect(ctx)
			}
		}},
		{"ConnectWorksAgainAfterClose", func(s *faulty, _ *Fixture) {
			s.close = func() error {
				s.connect = func(context.Context) error { return errors.New("used up") }
				return nil
			}
		}},
		{"LostConnectionIsAnErrorOrAGap", func(_ *faulty, f *Fixture) { f.Drop = func() {} }},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprint(i, tt.check), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				s := &faulty{Source: f.Source, end: make(chan struct{})}
				defer close(s.end)
				f.Source = s
				tt.breaks(s, &f)
				for _, c := range checks() {
					if c.name == tt.check && c.run(t.Context(), f) == nil {
						t.Error("the suite finds nothing")
					}
				}
			})
		})
	}
}
