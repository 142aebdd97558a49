package coordtest

import (
	"context"
	"errors"

	"coordtop/coord"
)

// electionCases returns the cases for what elections promise their users, on this driver.
func electionCases() []testCase {
	election := func(c coord.Caps) bool { return c.Election }
	return []testCase{
		{"Election/LeaderIsWhoWasElected", election, leaderIs},
		{"Election/NextIsElectedWhenTheLeaderResigns", election, nextLeader},
		{"Election/ObserveTellsTheWholeStory", election, observes},
		{"Election/ObservationEndsWithItsContext", election, observationEnds},
		{"Election/ProclaimAfterLossWritesNothing", election, proclaimLate},
		{"Election/ProclamationOutlivesItsTTL", election, proclaimKeeps},
		{"Election/CandidateTakesOver", election, candidates},
	}
}

// campaign wins an election. It leaves the data out if claims carry none.
func (s *suite) campaign(session *coord.Session, name, data string) *coord.Term {
	s.Helper()
	t, err := session.Election(name, coord.ElectionOptions{}).Campaign(s.ctx, s.data(data))
	s.noError("campaigning", err)
	return t
}

func (s *suite) data(text string) []byte {
	if s.caps.MaxData == 0 {
		return nil
	}
	return []byte(text)
}

// looks skips the case if the driver cannot report the leader.
func (s *suite) looks() {
	s.Helper()
	if SessionAbilities(s.open())&(CanDescribe|CanWatch) == 0 {
		s.Skip("the session can neither describe nor watch")
	}
}

// proclaims skips the case if a leader's data cannot change.
func (s *suite) proclaims() {
	s.Helper()
	session := s.open()
	g := s.must(session, s.claim(coord.KindElection))
	s.publisher(g)
	s.release(g)
}

func (s *suite) leader(session *coord.Session, name string) coord.Leader {
	s.Helper()
	l, err := session.Election(name, coord.ElectionOptions{}).Leader(s.ctx)
	s.noError("asking for the leader", err)
	return l
}

func leaderIs(s *suite) {
	s.looks()
	name := s.fresh(coord.KindElection)
	one, two := s.core(), s.core()
	if l := s.leader(two, name); l.Led {
		s.Errorf("before the election: %+v, want nobody", l)
	}
	t := s.campaign(one, name, "one")
	for _, c := range []struct {
		who  string
		of   *coord.Session
		isMe bool
	}{{"the leader", one, true}, {"another", two, false}} {
		l := s.leader(c.of, name)
		if !l.Led || !l.Known || l.IsMe != c.isMe || string(l.Data) != string(s.data("one")) {
			s.Errorf("%s sees %+v, want it led, known, me %v, with its data", c.who, l, c.isMe)
		}
		if own := t.Lease().Owner(); own != "" && l.Owner != own {
			s.Errorf("%s sees the owner %q, who calls itself %q", c.who, l.Owner, own)
		}
	}
	s.noError("resigning", t.Resign(s.ctx))
	s.is("cause of the term's end", context.Cause(t.Lease().Context()), coord.ErrReleased)
	if l := s.leader(two, name); l.Led {
		s.Errorf("after the resignation: %+v, want nobody", l)
	}
}

func nextLeader(s *suite) {
	name := s.fresh(coord.KindElection)
	one, two := s.core(), s.core()
	t := s.campaign(one, name, "one")
	won := make(chan *coord.Term, 1)
	s.background(func() {
		t, err := two.Election(name, coord.ElectionOptions{}).Campaign(s.ctx, s.data("two"))
		if err != nil {
			s.Errorf("campaigning: %v", err)
		}
		won <- t
	})
	if _, ok, err := s.core().Election(name, coord.ElectionOptions{}).TryCampaign(s.ctx, nil); ok || err != nil {
		s.Errorf("trying while another leads: ok %v, %v", ok, err)
	}
	s.noError("resigning", t.Resign(s.ctx))
	s.is("resigning twice", t.Resign(s.ctx), nil)
	select {
	case next := <-won:
		if next == nil {
			return
		}
		s.is("the next leader's Check", next.Lease().Check(), nil)
		if s.caps.Fence && next.Lease().Fence() <= t.Lease().Fence() {
			s.Errorf("the next leader's fence is %d after %d", next.Lease().Fence(), t.Lease().Fence())
		}
	case <-s.ctx.Done():
		s.Fatal("the next was never elected")
	}
}

func observes(s *suite) {
	s.looks()
	name := s.fresh(coord.KindElection)
	one, two, watcher := s.core(), s.core(), s.core()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var t *coord.Term
	has := func(l coord.Leader, data string, me bool) bool {
		return l.Led && l.IsMe == me && string(l.Data) == string(s.data(data))
	}
	resign := func() { s.is("resigning", t.Resign(s.ctx), nil) }
	steps := []step[coord.Leader]{
		{"nobody", func() {}, func(l coord.Leader) bool { return !l.Led }},
		{"an election", func() { t = s.campaign(one, name, "one") }, func(l coord.Leader) bool { return has(l, "one", false) }},
		{"a resignation", resign, func(l coord.Leader) bool { return !l.Led }},
		{"the next leader", func() { t = s.campaign(two, name, "two") }, func(l coord.Leader) bool { return has(l, "two", false) }},
	}
	if trial := s.must(s.open(), s.claim(coord.KindElection)); GrantAbilities(trial)&CanPublish != 0 && s.caps.MaxData > 0 {
		steps = append(steps, step[coord.Leader]{"a proclamation", func() {
			s.is("proclaiming", t.Proclaim(s.ctx, []byte("news")), nil)
		}, func(l coord.Leader) bool { return has(l, "news", false) }})
	}
	steps = append(steps,
		step[coord.Leader]{"another resignation", resign, func(l coord.Leader) bool { return !l.Led }},
		step[coord.Leader]{"ourselves", func() { t = s.campaign(watcher, name, "three") }, func(l coord.Leader) bool { return has(l, "three", true) }},
		step[coord.Leader]{"the end", cancel, nil})
	quick := coord.ElectionOptions{Poll: s.h.TTL / 20} // for drivers without notices
	var leaders []coord.Leader
	walk(s, func(yield func(coord.Leader, error) bool) {
		for l, err := range watcher.Election(name, quick).Observe(ctx) {
			if l.Led {
				leaders = append(leaders, l)
			}
			if (err == nil || ctx.Err() == nil) && !yield(l, err) {
				return
			}
		}
	}, steps)
	s.checkContexts(leaders)
}

// checkContexts checks that the Context of a leader ends when another follows, at the latest with the observation, and
// that a leader yielded again keeps its Context.
func (s *suite) checkContexts(leaders []coord.Leader) {
	s.Helper()
	last := leaders[len(leaders)-1].Context
	for i, l := range leaders {
		want := coord.ErrLeaderChanged
		if l.Context == last {
			want = coord.ErrObservationEnded
		}
		if cause := context.Cause(l.Context); !errors.Is(cause, want) {
			s.Errorf("cause of the context of leader %d of %d: %v, want %v", i, len(leaders), cause, want)
		}
	}
}

func observationEnds(s *suite) {
	s.looks()
	name := s.fresh(coord.KindElection)
	watcher := s.core()
	s.campaign(s.core(), name, "one")
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var last coord.Leader
	for l, err := range watcher.Election(name, coord.ElectionOptions{}).Observe(ctx) {
		s.noError("observing", err)
		if l.Led {
			s.is("the leader's context", l.Context.Err(), nil)
			last = l
			cancel()
		}
	}
	if last.Context == nil {
		s.Fatal("the leader was never seen")
	}
	s.is("cause of the leader's context", context.Cause(last.Context), coord.ErrObservationEnded)
}

func proclaimLate(s *suite) {
	s.proclaims()
	name := s.fresh(coord.KindElection)
	one, two := s.core(), s.core()
	t := s.campaign(one, name, "one")
	s.noError("resigning", t.Resign(s.ctx))
	next := s.campaign(two, name, "two")
	err := t.Proclaim(s.ctx, []byte("late"))
	wantCause(s, "proclaiming after resigning", err, coord.ErrReleased, coord.ErrLost)
	s.is("the next leader's Check", next.Lease().Check(), nil)
	if SessionAbilities(s.open())&CanDescribe != 0 {
		if l := s.leader(two, name); string(l.Data) != "two" {
			s.Errorf("the leader's data is %q, want its own", l.Data)
		}
	}
	if s.h.Expire == nil {
		return
	}
	s.h.Expire(s, coord.KindElection, name)
	err = next.Proclaim(s.ctx, []byte("late"))
	wantCause(s, "proclaiming after being taken away", err, coord.ErrLost, coord.ErrExpired)
}

func proclaimKeeps(s *suite) {
	s.proclaims()
	name := s.fresh(coord.KindElection)
	t := s.campaign(s.core(), name, "one")
	for _, data := range []string{"two", "", "three"} {
		if err := t.Proclaim(s.ctx, []byte(data)); err != nil {
			s.Fatalf("proclaiming %q: %v", data, err)
		}
	}
	long, cancel := context.WithTimeout(s.ctx, 2*s.h.TTL)
	defer cancel()
	_, err := s.core().Election(name, coord.ElectionOptions{}).Campaign(long, nil)
	s.is("campaigning against one who renews", err, context.DeadlineExceeded)
	s.is("the leader's Check", t.Lease().Check(), nil)
}

func candidates(s *suite) {
	name := s.fresh(coord.KindElection)
	first, second := s.core(), s.driver()
	t := s.campaign(first, name, "one")
	c := coord.NewCandidate(second, s.options(), name, coord.LeadOptions{})
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- c.Run(ctx) }()
	s.noError("resigning", t.Resign(s.ctx))
	s.until(func() bool { _, leads := c.Leading(); return leads }, func() string { return "the candidate never led" })
	cancel()
	<-stopped
	if _, leads := c.Leading(); leads {
		s.Error("a stopped candidate leads")
	}
	if _, ok, err := first.Election(name, coord.ElectionOptions{}).TryCampaign(s.ctx, nil); !ok || err != nil {
		s.Errorf("after the candidate stopped: ok %v, %v: it did not resign", ok, err)
	}
}
