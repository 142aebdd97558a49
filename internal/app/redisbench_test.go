package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// watchedRedis starts a server, prepares it with a script, and starts the program as a
// process of its own that watches the keys of a pattern. It waits until all is read.
func watchedRedis(b *testing.B, script string, keys int, selected string) (*redis.Client, arrivals, *exec.Cmd) {
	b.Helper()
	server := localserver.RedisForTest(b, localserver.RedisOptions{})
	c := writer(b, server.Addr())
	runScript(b, c, script, keys)
	lines := make(arrivals, 2*keys+4096)
	cmd := command(b, "watch", "-o", "json", server.URL()+selected)
	cmd.Stdout = &wholeLines{to: lines}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it ends the goroutine that reads what the program writes
	})
	lines.next("synced", "")
	return c, lines, cmd
}

// wholeLines passes on what a process writes, line by line.
type wholeLines struct {
	to   io.Writer
	rest []byte
}

func (w *wholeLines) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	if _, err := w.to.Write(w.rest[:end]); err != nil {
		return 0, err
	}
	w.rest = append(w.rest[:0], w.rest[end:]...)
	return len(b), nil
}

func runScript(b *testing.B, c *redis.Client, script string, keys int) {
	b.Helper()
	if err := c.Eval(context.Background(), script, nil, keys).Err(); err != nil && err != redis.Nil {
		b.Fatal(err)
	}
}

// count waits for so many events of a kind, and returns when the last of them came, and when
// those of the wanted keys did.
func (a arrivals) count(event string, n int, wanted map[string]time.Time) time.Time {
	var last time.Time
	for missing := len(wanted); n > 0 || missing > 0; {
		got := <-a
		if at, ok := wanted[got.key]; ok && at.IsZero() && got.event == "acquired" {
			wanted[got.key] = got.at
			missing--
		} else if got.event == event {
			last = got.at
			n--
		}
	}
	return last
}

// BenchmarkWatchBurst deletes 20,000 locks in one step of the server, takes one right after
// and one while the burst is read: how long until the line of the last deletion, and those of
// the two, came out of watch, a process of its own.
func BenchmarkWatchBurst(b *testing.B) {
	const burst = 20_000
	const make = `for i=1,ARGV[1] do redis.call('SET','app:lock:'..i,'host-'..i..':4711') end`
	c, lines, _ := watchedRedis(b, make, 0, "?mutex=app:lock:*")
	var all, after, during []time.Duration
	for b.Loop() {
		runScript(b, c, make, burst)
		lines.count("acquired", burst, nil)
		start := time.Now()
		runScript(b, c, `for i=1,ARGV[1] do redis.call('DEL','app:lock:'..i) end`, burst)
		second := time.Now()
		set(b, c, "app:lock:after", "host-a:1", time.Hour)
		rest(b, c, "0.05")
		third := time.Now()
		set(b, c, "app:lock:during", "host-b:1", time.Hour)
		came := map[string]time.Time{"app:lock:after": {}, "app:lock:during": {}}
		all = append(all, lines.count("released", burst, came).Sub(start))
		after, during = append(after, came["app:lock:after"].Sub(second)), append(during, came["app:lock:during"].Sub(third))
		runScript(b, c, `redis.call('DEL','app:lock:after','app:lock:during')`, 0)
		lines.count("released", 2, nil)
	}
	for unit, delays := range map[string][]time.Duration{"all": all, "after": after, "during": during} {
		slowest := time.Duration(0)
		for _, d := range delays {
			slowest = max(slowest, d)
		}
		b.ReportMetric(float64(slowest)/float64(time.Millisecond), unit+"-max-ms")
	}
}

// BenchmarkWatchIdle counts the commands of watch, a process of its own, in 30 s in which
// nothing changes, and its memory.
func BenchmarkWatchIdle(b *testing.B) {
	for _, keys := range []int{1000, 10_000, 100_000} {
		for what, pattern := range map[string]string{"one prefix": "app:leader:*", "no common prefix": "*:leader:*"} {
			name := map[string]string{"one prefix": `'app:leader:some-service-name-'..i`, "no common prefix": `'svc'..i..':leader:some-service-name'`}[what]
			b.Run(fmt.Sprintf("keys=%d/%s", keys, what), func(b *testing.B) {
				script := `for i=1,ARGV[1] do redis.call('SET',` + name + `,'host-'..i..'.example:4711','PX',36000000) end`
				c, _, cmd := watchedRedis(b, script, keys, "?election="+pattern)
				b.ResetTimer()
				var before, after int
				for b.Loop() {
					before = processed(b, c)
					rest(b, c, "30")
					after = processed(b, c)
				}
				b.ReportMetric(float64(after-before-2)/30, "commands/s")
				b.ReportMetric(float64(localserver.PeakMemory(b, cmd.Process.Pid))/(1<<20), "peak-MB")
			})
		}
	}
}

// rest waits for so many seconds, by the clock of the server.
func rest(b *testing.B, c *redis.Client, seconds string) {
	b.Helper()
	conn := c.WithTimeout(time.Minute)
	if err := conn.Do(context.Background(), "BLPOP", "nothing", seconds).Err(); err != redis.Nil {
		b.Fatal(err)
	}
}

// processed is how many commands the server has processed.
func processed(b *testing.B, c *redis.Client) (n int) {
	b.Helper()
	info, err := c.Info(context.Background(), "stats").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "total_commands_processed:")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		b.Fatal(err)
	}
	return n
}
