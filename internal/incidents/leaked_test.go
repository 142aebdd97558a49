package incidents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
)

// watchPostgres is a witness of the advisory locks of a server.
func watchPostgres(t *testing.T, url string) *witness {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url+"&application_name=witness")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	const query = "SELECT objid::bigint, granted, coalesce(application_name, '') FROM pg_locks l JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' ORDER BY waitstart"
	return newWitness(t, func() (map[string]seen, error) {
		rows, err := conn.Query(context.Background(), query)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		all := map[string]seen{}
		for rows.Next() {
			var key int64
			var granted bool
			var name string
			if err := rows.Scan(&key, &granted, &name); err != nil {
				return nil, err
			}
			row := all[fmt.Sprint(key)]
			if granted {
				row.owner = name
			} else {
				row.waiters = append(row.waiters, name)
			}
			all[fmt.Sprint(key)] = row
		}
		return all, rows.Err()
	})
}

// worker waits for a lock, works for a while, and gives it up; where patience is not zero it gives up waiting after that.
func worker(t *testing.T, running *sync.WaitGroup, url, name string, patience time.Duration) {
	running.Go(func() { // ends with the work
		conn, err := pgx.Connect(context.Background(), url+"&application_name="+name)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close(context.Background()) }()
		_, err = conn.Exec(context.Background(), fmt.Sprintf("set lock_timeout = %d; select pg_advisory_lock(4242)", patience.Milliseconds()))
		switch {
		case patience > 0 && err != nil:
			return // it gave up
		case err == nil:
			_, err = conn.Exec(context.Background(), "select pg_sleep(1.5), pg_advisory_unlock(4242)")
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
}

// release ends by force what another owns, as a person does on the command line.
func (i *incident) release(name, reason string) moment {
	i.Helper()
	var got struct {
		Primitives []struct{ Owners []struct{ Guard string } }
	}
	if err := json.Unmarshal([]byte(i.run("get", name, "-o", "json")), &got); err != nil || len(got.Primitives) != 1 || len(got.Primitives[0].Owners) != 1 {
		i.Fatalf("%s has no owner: %+v, %v", name, got, err)
	}
	asked := moment{from: time.Now()}
	i.run("release", name, "--if-owner", got.Primitives[0].Owners[0].Guard, "--reason", reason, "--write", "--yes")
	asked.to = time.Now()
	return asked
}

// person is who releases by force here, as the report names people.
func person(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username + "@" + host
}

// TestALeakedLockOfAPooledSession: a program takes a lock through a pooler in transaction mode and goes; the session of the
// pooler keeps it, while others queue, until a person ends it by force.
func TestALeakedLockOfAPooledSession(t *testing.T) {
	t.Parallel()
	skipUnlessAsked(t)
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	pooler := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: server, Mode: "transaction"})
	i := newIncident(t, fmt.Sprintf("sources:\n- {name: ledger, url: %q, watch: [{keys: '4242'}, {keys: '4243'}]}\nnames: {ledger: {'4242': compactor, '4243': archive}}\n", server.URL()))
	w := watchPostgres(t, server.URL())
	r := i.record()
	i.recorded("ledger", "not observed")
	i.wait(3 * time.Second)

	leak, err := pgx.Connect(t.Context(), pooler.URL()+"&application_name=ledger-batch&default_query_exec_mode=simple_protocol")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leak.Exec(t.Context(), "select pg_advisory_lock(4242), pg_advisory_lock(4243)"); err != nil {
		t.Fatal(err)
	}
	if err := leak.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	defer running.Wait()
	for n, patience := range []time.Duration{0, 12 * time.Second, 0} {
		i.wait(3 * time.Second)
		worker(t, &running, server.URL(), fmt.Sprint("worker-", n+1), patience)
	}
	i.await("worker-2 gives up", func() bool { waits := w.of("4242").waits; return len(waits) > 1 && !waits[1].to.to.IsZero() })
	worker(t, &running, server.URL(), "worker-4", 0)
	i.wait(20 * time.Second)
	during := time.Now()
	reason := "ledger-batch has gone, INC-7"
	asked := i.release("ledger/4242", reason)
	running.Wait()
	i.wait(3 * time.Second)
	w.end()
	r.stop()
	so, other := w.of("4242"), w.of("4243")
	forced := `ledger-batch pid \d+ was ended by force by ` + escaped(person(t)+` ("`+reason+`")`)
	i.ask([]question{
		{"Who owned it at " + clock(during) + ", and what did they do?", "replay --at=" + during.Format(time.RFC3339Nano) + " enter", []check{
			says(`^ compactor +4242 +held, somebody has waited for \d+s, and the owner is idle`), says(`^ +A ledger-batch pid \d+ `), says(`application +ledger-batch`), says(`state +idle$`)}},
		{"Since when?", "history ledger/4242 -o json", []check{at(`"label":"ledger-batch pid.*?"start":"(\S+?)".*?"start_after":"(\S+?)"`, so.terms[0].from, 0)}},
		{"How many waited at most?", "report", []check{says(`worker-1 pid \d+ and %d more waited for ledger/compactor 4242`, so.most-1)}},
		{"Who waited longest, and how long?", "replay", []check{lasted(`^ *\S+ +(\S+ s|\S+s) +worker-1 pid \d+ and \d+ more waited for compactor 4242`, so.waits[0].length(), looksApart)}},
		{"Who released it by force, from which host, and why?", "report", []check{says(`\| %s \| then worker-1 pid \d+ owned it \|`, forced)}},
		{"When, and how long did nobody own it then?", "history ledger/4242 -o json", []check{
			at(`"label":"ledger-batch pid.*?"end":"(\S+?)".*?"end_after":"(\S+?)"`, asked, 0), says(`"label":"worker-1.*"gap_before_ms":{"min":0,"max":([0-9]|[1-9][0-9]|[1-4][0-9][0-9]),`)}},
		{"What became of worker-2?", "report", []check{lasted(`\| ([^|]*) \| ledger/compactor 4242 \| worker-2 pid \d+ \| ledger-batch pid \d+ \| left \|`, so.waits[1].length(), looksApart)}},
		{"What else ended with it?", "history ledger/4243 -o json", []check{
			at(`"label":"ledger-batch pid.*?"end":"(\S+?)".*?"end_after":"(\S+?)"`, other.terms[0].to, 0), says(`"cause":"session_ended","cause_known":"inferred"`)}},
	})
}

// looksApart is how far apart the looks are at a Postgres, as the report says, at each end of a length.
const looksApart = 2 * 300 * time.Millisecond

// escaped is an expression for a text as it stands in a table of the report.
func escaped(text string) string {
	text = strings.NewReplacer("(", `\(`, ")", `\)`, "@", `\@<!-- -->`, "#", `\#<!-- -->`).Replace(text)
	return regexp.QuoteMeta(text)
}
