package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// idlePrograms names the variable with the programs that BenchmarkIdle compares, with blanks
// between them: builds of coordtop, and others such as htop.
const idlePrograms = "COORDTOP_BENCH_IDLE"

// BenchmarkIdle runs programs on a terminal of their own, 160x48, and measures for a minute what
// each costs while nothing happens: nothing is written to the Redis, and no key is pressed. It
// begins 40 s after the start.
func BenchmarkIdle(b *testing.B) {
	programs := strings.Fields(os.Getenv(idlePrograms))
	if len(programs) == 0 {
		b.Skipf("set %s to the programs that are to be compared, or use make bench-idle", idlePrograms)
	}
	for _, rows := range []int{10, 10_000, 100_000} {
		server := localserver.RedisForTest(b, localserver.RedisOptions{})
		c := writer(b, server.Addr())
		for at := 0; at < rows; at += 10_000 {
			fill(b, c, fmt.Sprintf("app:leader:%d-", at), min(rows, 10_000))
		}
		for _, program := range programs {
			ours := strings.HasPrefix(filepath.Base(program), "coordtop")
			if !ours && rows > 10 {
				continue
			}
			b.Run(fmt.Sprintf("rows=%d/%s", rows, filepath.Base(program)), func(b *testing.B) {
				cmd := exec.Command(program)
				cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_STATE_HOME="+b.TempDir(), "XDG_CONFIG_HOME="+b.TempDir())
				if ours {
					cmd.Args = append(cmd.Args, server.URL()+"?election=app:leader:*")
				}
				m := onMeter(b, cmd, 160, 48)
				if ours {
					m.Until(b, "all rows", time.Minute, func(shown string) bool { return strings.Contains(shown, "primitives") })
				}
				<-time.After(40 * time.Second)
				const minute = 60
				for b.Loop() {
					before := usedBy(b, cmd.Process.Pid)
					bytes := m.bytes.Load()
					<-time.After(minute * time.Second)
					after := usedBy(b, cmd.Process.Pid)
					b.ReportMetric(float64(after.wakeups-before.wakeups)/minute, "wake-ups/s")
					b.ReportMetric(100*(after.cpu-before.cpu)/minute, "cpu-%")
					b.ReportMetric(float64(after.memory)/(1<<20), "MB")
					b.ReportMetric(float64(m.bytes.Load()-bytes)/minute, "bytes/s")
				}
				b.ReportMetric(0, "ns/op")
				m.keys("q")
				_ = cmd.Wait()
			})
		}
	}
}

// used is how much of the machine a process has used since its start, as the kernel counts it.
type used struct {
	wakeups int     // how often a thread of it waited and went on
	cpu     float64 // seconds
	memory  int     // bytes that are resident now
}

func usedBy(b *testing.B, pid int) (u used) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(threads) == 0 {
		b.Fatalf("threads of %d: %v", pid, err)
	}
	for _, thread := range threads {
		status, _ := os.ReadFile(thread + "/status") // one that has ended counts no more
		for line := range strings.Lines(string(status)) {
			var n int
			if k, _ := fmt.Sscanf(line, "voluntary_ctxt_switches: %d", &n); k == 1 {
				u.wakeups += n
			}
			if k, _ := fmt.Sscanf(line, "VmRSS: %d kB", &n); k == 1 {
				u.memory = n << 10
			}
		}
		spent, _ := os.ReadFile(thread + "/schedstat")
		var nanoseconds int64
		if k, _ := fmt.Sscanf(string(spent), "%d", &nanoseconds); k == 1 {
			u.cpu += float64(nanoseconds) / 1e9
		}
	}
	return u
}
