package operate_test

import (
	"sync"
	"testing"

	"coordtop/internal/action"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/operate"
)

func TestWhatIsHeldIsGivenBackAlsoWhenItsGoroutinePanics(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []any
	r := redisRig(t, options{
		panics: func(p *spawn.Panic) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, p.Value)
		},
		change: func(_ *operate.Options, b *operate.Backend) {
			b.Call = func(q action.Request) string {
				if q.Verb == action.Resign {
					panic("boom") // as it is about to be given back
				}
				return ""
			}
		},
	})
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	r.close()
	if n := r.redis().Exists(t.Context(), election).Val(); n != 0 {
		t.Error("it was not given back")
	}
	if len(told) != 1 || told[0] != "boom" {
		t.Errorf("told %v", told)
	}
}
