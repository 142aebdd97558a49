package headless

import "coordtop/sources"

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
