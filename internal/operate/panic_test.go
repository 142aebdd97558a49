package operate_test

import (
	"testing"

	"coordtop/internal/action"
	"coordtop/internal/operate"
)

func TestWhatIsHeldIsGivenBackAlsoWhenItsGoroutinePanics(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(o *operate.Options, b *operate.Backend) {
		o.Catch = func(body func()) {
			defer func() {
				if v := recover(); v != nil && v != "boom" {
					t.Errorf("another panic: %v", v)
				}
			}()
			body()
		}
		b.Call = func(q action.Request) string {
			if q.Verb == action.Resign {
				panic("boom") // as it is about to be given back
			}
			return ""
		}
	}})
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	r.close()
	if n := r.redis().Exists(t.Context(), election).Val(); n != 0 {
		t.Error("it was not given back")
	}
}
