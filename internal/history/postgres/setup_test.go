package postgres

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
)

var schemas atomic.Int64

// stores returns the options of an empty store on the server at a URL.
func stores(url string) Options {
	return Options{Address: url, Schema: fmt.Sprintf("test_%d", schemas.Add(1))}
}

func placeOf(t *testing.T, o Options) storetest.Place {
	return storetest.Place{
		Begin: func(run history.Run) (storetest.Writer, error) {
			w, err := Begin(t.Context(), o, run)
			if err != nil {
				return nil, err
			}
			return w, nil
		},
		Read: func() storetest.Reader { return NewReader(o) },
	}
}

func TestADatabaseIsAStore(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	pooler := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: server, Mode: "transaction"})
	for name, url := range map[string]string{"direct": server.URL(), "pooler": pooler.URL()} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, keep time.Duration) storetest.Place {
				o := stores(url)
				o.Keep = keep
				return placeOf(t, o)
			})
		})
	}
}
