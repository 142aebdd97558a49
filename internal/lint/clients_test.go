//go:build !race

package lint_test

import (
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// clientNames are the public names of the clients that coord takes the place of, in their order in coord/doc.go.
var clientNames = []struct{ client, names string }{
	{"@ydbjs/coordination", `CoordinationClient createNode alterNode describeNode dropNode createSession openSession withSession
		description recoveryWindow startTimeout retryBackoff sessionId status session.signal semaphore mutex election waitReady close destroy
		semaphore.create update delete acquire tryAcquire release describe watch limit data count ephemeral waitTimeout force owners waiters
		lease.signal lock tryLock campaign observe leader isMe leader.signal leadership.signal proclaim resign TryAcquireMissError
		isTryAcquireMiss LeaseReleasedError SessionClosedError SessionExpiredError LeaderChangedError ObservationEndedError YDBError`},
	{"LeaderService", `LeaderService ttlMs renewalIntervalMs retryDelayMs setBecameLeaderCallback setLostLeaderCallback isLeader start stop
		MUTEX_REDIS_* REDIS_* withMutex`},
	{"@platformatic/leader", "pool lock poll channels onNotification log onLeadershipChange start stop notify isLeader"},
	{"dflockd-client", `DistributedLock DistributedSemaphore key limit acquireTimeoutS leaseTtlS servers shardingStrategy stableHashShard host port
		renewRatio tls auth onLockLost connectTimeoutMs socketTimeoutMs acquire release enqueue wait withLock close token lease renew
		waitForLock semAcquire semRenew semRelease semEnqueue semWaitForLock publish stats LockError AcquireTimeoutError AuthError
		SignalConnection`},
}

var (
	columns = regexp.MustCompile(`^//\t(\S+(?: \S+)*) {2,}(\S.*)$`)
	ourName = regexp.MustCompile(`\b(coord|[a-z]+coord|dflockwire)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
)

// clientTables returns the rows of each table of coord/doc.go, by its title.
func clientTables(t *testing.T) map[string][][2]string {
	t.Helper()
	doc, err := os.ReadFile("../../coord/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "# Coming from another client\n")
	tables := map[string][][2]string{}
	title := ""
	for line := range strings.SplitSeq(section, "\n") {
		switch row := columns.FindStringSubmatch(line); {
		case row == nil:
		case row[2] == "here":
			title, _, _ = strings.Cut(row[1], " ")
		default:
			tables[title] = append(tables[title], [2]string{row[1], row[2]})
		}
	}
	return tables
}

func TestEachNameOfAClientHasARowInTheDocumentation(t *testing.T) {
	t.Parallel()
	tables := clientTables(t)
	for _, c := range clientNames {
		var theirs []string
		for _, row := range tables[c.client] {
			theirs = append(theirs, strings.FieldsFunc(row[0], func(r rune) bool { return strings.ContainsRune(" ()", r) })...)
		}
		for name := range strings.FieldsSeq(c.names) {
			if !slices.Contains(theirs, name) {
				t.Errorf("%s of %s is in no row", name, c.client)
			}
		}
	}
}

func TestEachNameOfOursThatTakesThePlaceOfAnotherExists(t *testing.T) {
	t.Parallel()
	all, err := libraries()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for title, rows := range clientTables(t) {
		for _, row := range rows {
			for _, name := range ourName.FindAllStringSubmatch(row[1], -1) {
				seen++
				if !exists(all, name[1], name[2], name[3]) {
					t.Errorf("%s, in the row %q of %s, does not exist", name[0], row[0], title)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d names were found", seen)
	}
}

// exists reports whether a public package has the name and, unless member is "", its type has that field or method.
func exists(all map[string]*types.Package, pkg, name, member string) bool {
	for path, p := range all {
		if !strings.HasSuffix(path, "/"+pkg) {
			continue
		}
		o := p.Scope().Lookup(name)
		if o == nil || member == "" {
			return o != nil
		}
		found, _, _ := types.LookupFieldOrMethod(o.Type(), true, p, member)
		return found != nil
	}
	return false
}
