package truth

import (
	"sync"
	"time"
)

// ticker records again and again what happens by itself. Its zero value is ready.
type ticker struct {
	done  chan struct{}
	ticks sync.WaitGroup
	once  sync.Once
}

// start calls record every so often until quit.
func (t *ticker) start(every time.Duration, record func()) {
	t.done = make(chan struct{})
	t.ticks.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			record()
			select {
			case <-tick.C:
			case <-t.done:
				return
			}
		}
	})
}

func (t *ticker) quit() {
	t.once.Do(func() {
		if t.done != nil {
			close(t.done)
		}
	})
	t.ticks.Wait()
}
