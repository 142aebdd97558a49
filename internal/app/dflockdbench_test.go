package app

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// BenchmarkRedisBesideDflockd measures from a SET, one every 50 ms, to its line out of watch, a
// process of its own, alone and beside a dflockd that lists 400,000 locks; and the memory.
func BenchmarkRedisBesideDflockd(b *testing.B) {
	for _, locks := range []int{0, 400_000} {
		b.Run(fmt.Sprintf("locks=%d", locks), func(b *testing.B) {
			redis := localserver.RedisForTest(b, localserver.RedisOptions{})
			c := writer(b, redis.Addr())
			set(b, c, "app:lock:x", "host:0", time.Hour)
			urls := []string{redis.URL() + "?mutex=app:lock:*"}
			if locks > 0 {
				urls = append(urls, "dflockd://"+listing(b, locks))
			}
			lines := make(arrivals, 1<<20)
			cmd := command(b, append([]string{"watch", "-o", "json"}, urls...)...)
			cmd.Stdout = &wholeLines{to: lines}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				_ = cmd.Process.Signal(os.Interrupt)
				_ = cmd.Wait() // it ends the goroutine that reads what the program writes
			})
			for range urls {
				lines.next("synced", "")
			}
			var delays []time.Duration
			for b.Loop() {
				for range 400 {
					start := time.Now()
					set(b, c, "app:lock:x", fmt.Sprint("host:", len(delays)+1), time.Hour)
					delays = append(delays, lines.next("owner_changed", "app:lock:x").Sub(start))
					rest(b, c, "0.05")
				}
			}
			report(b, delays)
			b.ReportMetric(float64(delays[len(delays)-1])/float64(time.Millisecond), "max-ms")
			b.ReportMetric(float64(localserver.PeakMemory(b, cmd.Process.Pid))/(1<<20), "peak-MB")
		})
	}
}

// listing starts a server that knows ping, and lists so many locks that are all renewed all the
// time.
func listing(b *testing.B, locks int) (address string) {
	b.Helper()
	var all bytes.Buffer
	all.WriteString(`ok {"connections":1,"locks":[`)
	for i := range locks {
		if i > 0 {
			all.WriteByte(',')
		}
		fmt.Fprintf(&all, `{"key":"service-%d/leader","owner_conn_id":%d,"lease_expires_in_s":29.5,"waiters":0}`, i, i+1)
	}
	all.WriteString(`],"semaphores":[],"idle_locks":[],"idle_semaphores":[]}` + "\n")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn, all.Bytes())
		}
	}()
	return listener.Addr().String()
}

// answer answers requests, of three lines each, until the connection ends.
func answer(conn net.Conn, stats []byte) {
	defer conn.Close()
	requests := bufio.NewReader(conn)
	for {
		verb, err := requests.ReadString('\n')
		for range 2 {
			if err == nil {
				_, err = requests.ReadString('\n')
			}
		}
		if err != nil {
			return
		}
		reply := []byte("ok\n")
		if strings.TrimSpace(verb) == "stats" {
			reply = stats
		}
		if _, err := io.Copy(conn, bytes.NewReader(reply)); err != nil {
			return
		}
	}
}
