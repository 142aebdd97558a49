package postgres

import (
	"fmt"
	"strings"
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

func TestAnOlderStoreIsBroughtToOurVersionInOneTransaction(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	older, fresh := stores(url), stores(url)
	asked(t, url, fmt.Sprintf("create schema %s; set search_path = %[1]s; %s; insert into store values(0, 1, 1, md5('x')::uuid, 0)", older.Schema, first))
	for _, table := range partitioned {
		asked(t, url, fmt.Sprintf("set search_path = %s; create table %s_%s (like %[2]s including all); alter table %[2]s attach partition %[2]s_%[3]s for values from ('%[4]s') to ('%[5]s')",
			older.Schema, table, storetest.T0.Format(dayFormat), storetest.T0.Format(time.DateOnly), storetest.T0.Add(day).Format(time.DateOnly)))
	}
	begun(t, fresh, 0)
	shape := func(o Options) string {
		return asked(t, url, fmt.Sprintf("select version, readers, (select string_agg(concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default), ';' order by table_name, column_name)"+
			" from information_schema.columns where table_schema = '%s' and table_name !~ '[0-9]{8}'), (select string_agg(indexdef, ';' order by indexname) from pg_indexes where schemaname = '%[1]s' and tablename in ('term', 'event')) from %[1]s.store", o.Schema))
	}
	want := strings.ReplaceAll(shape(fresh), fresh.Schema, older.Schema)
	before := shape(older)
	asked(t, url, fmt.Sprintf("alter table %s.audit add column line text", older.Schema))
	if _, err := Begin(t.Context(), older, history.Run{}); err == nil {
		t.Error("a store that cannot be changed is written to")
	}
	asked(t, url, fmt.Sprintf("alter table %s.audit drop column line", older.Schema))
	if got := shape(older); got != before {
		t.Errorf("after a change that failed it is\n%s\nwant\n%s", got, before)
	}
	w := begun(t, older, 0)
	if got := shape(older); got != want {
		t.Errorf("it is\n%s\nwant, as a new one,\n%s", got, want)
	}
	storetest.Write(t, w, batch(0, "a"))
}

func TestARunHasTheClockOfItsRecorder(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	w := begun(t, o, 0)
	storetest.Write(t, w, batch(0, "a"))
	for _, ahead := range []time.Duration{0, 5 * time.Minute, -5 * time.Minute} {
		asked(t, o.Address, fmt.Sprintf("update %s.run set ahead_least = %d, ahead_most = %d, wrote = clock_timestamp() returning 1", o.Schema, ahead.Microseconds()-1, ahead.Microseconds()+1))
		runs, err := NewReader(o).Runs(t.Context())
		if err != nil || len(runs) != 1 || runs[0].Ahead != ahead {
			t.Fatalf("%v ahead: %+v, %v", ahead, runs, err)
		}
		now := time.Now()
		if by := history.Present(runs, now).Sub(now) - ahead; by.Abs() > time.Minute {
			t.Errorf("%v ahead: the present is wrong by %v", ahead, by)
		}
		if to := history.Bounds(runs, now).To.Sub(now) - ahead; to.Abs() > time.Minute {
			t.Errorf("%v ahead: the end of what is recorded is wrong by %v", ahead, to)
		}
	}
}
