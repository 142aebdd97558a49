package coord_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// service stands for a coordination service in the examples.
func service() *coordtest.Mem { return coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{}) }

// A session is opened, used and closed. Its leases end with it.
func ExampleSession() {
	ctx := context.Background()
	driver := service().NewDriver(nil)

	s, err := coord.Open(ctx, driver, coord.SessionOptions{Description: "example", TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	lease, err := s.Mutex("nightly", coord.MutexOptions{}).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("session:", s.State(), "- may be trusted:", lease.Check() == nil)

	if err := s.Close(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("session:", s.State(), "- may be trusted:", lease.Check() == nil)
	fmt.Println("because it is closed:", errors.Is(context.Cause(lease.Context()), coord.ErrClosed))
	// Output:
	// session: open - may be trusted: true
	// session: ended - may be trusted: false
	// because it is closed: true
}

// Sessions is for programs that go on after a session was lost.
func ExampleSessions() {
	ctx := context.Background()
	work := func(context.Context) error { fmt.Println("working"); return nil }

	for s, err := range coord.Sessions(ctx, service().NewDriver(nil), coord.SessionOptions{}) {
		if err != nil {
			log.Fatal(err) // refused: trying again is useless
		}
		lease, err := s.Mutex("nightly", coord.MutexOptions{}).Lock(ctx)
		if err != nil {
			continue // this session is over; there will be another
		}
		if work(lease.Context()) == nil {
			break // closes the session, which gives the lease back
		}
	}
	// Output: working
}

// WithLock is for work that is done once, by one program at a time.
func ExampleWithLock() {
	err := coord.WithLock(context.Background(), service().NewDriver(nil), coord.SessionOptions{}, "nightly", coord.MutexOptions{Wait: time.Minute},
		func(ctx context.Context, lease *coord.Lease) error {
			fmt.Println("working, fence", lease.Fence())
			return ctx.Err() // not nil if the mutex was lost
		})
	fmt.Println(err)
	// Output:
	// working, fence 1
	// <nil>
}

// Only one of two sessions gets a mutex; the other finds it taken.
func ExampleMutex() {
	ctx := context.Background()
	shared := service()
	open := func() *coord.Session {
		s, err := coord.Open(ctx, shared.NewDriver(nil), coord.SessionOptions{})
		if err != nil {
			log.Fatal(err)
		}
		return s
	}
	a, b := open(), open()
	defer a.Close(ctx)
	defer b.Close(ctx)

	lease, err := a.Mutex("nightly", coord.MutexOptions{Data: []byte("host-7")}).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, ok, err := b.Mutex("nightly", coord.MutexOptions{}).TryLock(ctx)
	fmt.Println("b has it:", ok, err)

	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	_, ok, err = b.Mutex("nightly", coord.MutexOptions{}).TryLock(ctx)
	fmt.Println("b has it:", ok, err)
	// Output:
	// b has it: false <nil>
	// b has it: true <nil>
}

// A leader tells who it is and, as often as it likes, how it is.
func ExampleElection() {
	ctx := context.Background()
	s, err := coord.Open(ctx, service().NewDriver(nil), coord.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close(ctx)
	election := s.Election("scheduler", coord.ElectionOptions{})

	show := func() {
		leader, err := election.Leader(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("led: %v, by us: %v, %s\n", leader.Led, leader.IsMe, leader.Data)
	}
	term, err := election.Campaign(ctx, []byte("host-7 starting"))
	if err != nil {
		log.Fatal(err)
	}
	show()
	if err := term.Proclaim(ctx, []byte("host-7 ready")); err != nil {
		log.Fatal(err)
	}
	show()
	if err := term.Resign(ctx); err != nil {
		log.Fatal(err)
	}
	show()
	// Output:
	// led: true, by us: true, host-7 starting
	// led: true, by us: true, host-7 ready
	// led: false, by us: false,
}

// The context of an observed leader ends when it does not lead any more.
func ExampleElection_Observe() {
	ctx := context.Background()
	s, err := coord.Open(ctx, service().NewDriver(nil), coord.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close(ctx)
	election := s.Election("scheduler", coord.ElectionOptions{})
	term, err := election.Campaign(ctx, []byte("host-7"))
	if err != nil {
		log.Fatal(err)
	}

	for leader, err := range election.Observe(ctx) {
		switch {
		case err != nil:
			log.Fatal(err)
		case leader.IsMe:
			fmt.Printf("we lead: %s\n", leader.Data)
			if err := term.Resign(ctx); err != nil {
				log.Fatal(err)
			}
			<-leader.Context.Done()
			fmt.Println("we do not:", context.Cause(leader.Context))
			continue
		case leader.Led:
			continue // the service has not told yet that we resigned
		}
		fmt.Println("nobody leads")
		break
	}
	// Output:
	// we lead: host-7
	// we do not: released
	// nobody leads
}

// A candidate campaigns for as long as it runs.
func ExampleCandidate() {
	ctx, cancel := context.WithCancel(context.Background())
	candidate := coord.NewCandidate(service().NewDriver(nil), coord.SessionOptions{}, "scheduler", coord.LeadOptions{
		Data: []byte("host-7"),
		OnElected: func(ctx context.Context, term *coord.Term) error {
			fmt.Println("elected")
			cancel() // the program is told to stop
			return nil
		},
		OnLost: func(cause error) { fmt.Println("lost:", cause) },
	})
	fmt.Println(candidate.Run(ctx))
	// Output:
	// elected
	// lost: released
	// context canceled
}

// Lead is for a program that does one thing when it leads.
func ExampleLead() {
	err := coord.Lead(context.Background(), service().NewDriver(nil), coord.SessionOptions{}, "migration",
		coord.LeadOptions{Data: []byte("host-7")},
		func(ctx context.Context, term *coord.Term) error {
			fmt.Println("migrating, fence", term.Lease().Fence())
			return nil
		})
	fmt.Println(err)
	// Output:
	// migrating, fence 1
	// <nil>
}
