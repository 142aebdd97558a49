package operate_test

import (
	"context"
	"testing"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/sources"
)

func TestWeLeadProclaimAndResignAsOthersSeeIt(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(*testing.T, options) *rig{"redis": redisRig, "postgres": postgresRig} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := setup(t, options{})
			election := map[string]string{"redis": "app:leader:x", "postgres": "4242"}[name]
			id := r.do(r.ask(action.Campaign, election))
			r.reaches(id, action.Seen)
			us := r.owner(election)
			held := r.Status().Holdings
			if len(held) != 1 || held[0].Owner != us.ID || held[0].Until.IsZero() {
				t.Fatalf("we hold %+v, the Hub shows %+v", held, us)
			}
			q := r.ask(action.Proclaim, election)
			q.Data = []byte("draining")
			r.reaches(r.do(q), action.Seen)
			says := map[string]string{"redis": "ana@desk:1 draining", "postgres": "draining"}[name] // which knows us by our session
			r.until("others see the data", func(*sources.State) bool {
				return string(r.owner(election).Data.Head) == says
			})
			next := r.campaign(name, election)
			resign := r.do(r.ask(action.Resign, election))
			run := r.reaches(resign, action.Seen)
			after := r.owner(election, us.ID)
			if got := <-next; got != after.ID {
				t.Errorf("%s leads, the Hub shows %s", got, after.ID)
			}
			t.Logf("%s", run.Text)
			for _, term := range r.row(election).Terms {
				if term.Owner.ID == us.ID && (term.Cause != sources.CauseReleased || term.How != sources.Ours) {
					t.Errorf("the term that we ended has the cause %v, known as %v", term.Cause, term.How)
				}
			}
			if held := r.Status().Holdings; len(held) != 0 {
				t.Errorf("we still hold %+v", held)
			}
		})
	}
}

// campaign has another program wait to lead. It tells its owner ID when it does, and
// resigns when the test ends.
func (r *rig) campaign(backend, election string) <-chan string {
	r.t.Helper()
	var d coord.Driver
	var err error
	if backend == "redis" {
		d, err = rediscoord.New(redisClient(r.t, r.url), rediscoord.Options{RetryDelay: 1e8})
	} else {
		d, err = postgresDriver(r.url)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := coord.Open(context.Background(), d, coord.SessionOptions{Description: "other"})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	leads, ended := make(chan string, 1), make(chan struct{})
	go func() { // the cleanup waits for it
		defer close(ended)
		term, err := s.Election(election, coord.ElectionOptions{}).Campaign(ctx, []byte("other"))
		if err == nil {
			leads <- term.Lease().Owner()
		}
	}()
	r.t.Cleanup(func() {
		cancel()
		<-ended
		if err := s.Close(context.Background()); err != nil {
			r.t.Logf("closing the other: %v", err)
		}
		if err := d.Close(context.Background()); err != nil {
			r.t.Logf("closing the other's driver: %v", err)
		}
	})
	return leads
}

func TestOurNameStandsBeforeWhatWeSay(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]struct{ label, data string }{
		"":                      {"ana@desk:1", "ana@desk:1"},
		"draining node 7":       {"ana@desk:1", "ana@desk:1 draining node 7"},
		"ana@desk:1":            {"ana@desk:1", "ana@desk:1"},
		"ana@desk:1 draining":   {"ana@desk:1", "ana@desk:1 draining"},
		"ana@desk:12 is a host": {"ana@desk:1", "ana@desk:1 ana@desk:12 is a host"},
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			r := redisRig(t, options{})
			claim := r.ask(action.Campaign, election)
			claim.Data = []byte(said)
			r.reaches(r.do(claim), action.Seen)
			if o := r.owner(election); o.Label != want.label || o.Data.Head != want.data {
				t.Errorf("%q is shown as %q with the data %q", said, o.Label, o.Data.Head)
			}
			if held := r.Status().Holdings; len(held) != 1 || string(held[0].Data) != want.data {
				t.Errorf("%q: we hold %+v", said, held)
			}
		})
	}
}
