package respwire

import (
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// small limits show what an answer costs beyond its own bytes.
func small() Limits { return Limits{Bytes: 4096, Values: 256, Depth: 4, Line: 512, Attributes: 4} }

// FuzzLibraryStaysSmall has the client's library read what the scanner lets through. None
// of it may make the library allocate much more than a connection costs, or recurse.
func FuzzLibraryStaysSmall(f *testing.F) {
	for _, seed := range []string{
		"+OK\r\n", "%2147483647\r\n", "*2147483647\r\n", ">2147483647\r\n", "$2147483647\r\n", "*200\r\n*200\r\n",
		"%100\r\n+a\r\n%100\r\n", "|1\r\n|1\r\n|1\r\n+a\r\n+b\r\n+c\r\n%9999999\r\n", "(99999999\r\n", ">2\r\n+invalidate\r\n*2\r\n+a\r\n+b\r\n+OK\r\n",
		strings.Repeat("*1\r\n", 100), strings.Repeat("|0\r\n", 1000), ">1\r\n|1\r\n+a\r\n+b\r\n+c\r\n*99999999\r\n",
		"*1\r\n$-1\r\n", "%-1\r\n", "=3\r\nabc\r\n", ">1\r\n$99999999\r\n", "_\r\n#t\r\n,nan\r\n", "*3\r\n-ERR x\r\n!3\r\nabc\r\n:1\r\n",
	} {
		f.Add([]byte(seed), uint8(7))
	}
	f.Fuzz(func(t *testing.T, stream []byte, piece uint8) {
		if len(stream) > 1<<16 {
			t.Skip()
		}
		const most = 1 << 20 // the library's buffers and clients are 200 kB of it
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ask(t.Context(), stream, int(piece)+1)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
			t.Errorf("%d bytes were allocated for %.200q", grown, stream)
		}
	})
}

// ask has the library read two replies of a stream. Their content does not matter.
func ask(ctx context.Context, stream []byte, piece int) {
	pieces := [][]byte{[]byte("%0\r\n")} // to HELLO
	for rest := stream; len(rest) > 0; {
		n := min(piece, len(rest))
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	client := redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return New(&played{pieces: pieces}, "h:1", small()), nil
		},
		MaxRetries: -1, DialerRetries: 1, PoolSize: 1, DisableIdentity: true, PipelinePoolSize: -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	defer client.Close()
	c := client.Conn()
	defer c.Close()
	_ = c.Do(ctx, "PING").Err()
	_ = c.Scan(ctx, 0, "", 0).Err()
}

func (p *played) Close() error                     { return nil }
func (p *played) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (p *played) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (p *played) SetDeadline(time.Time) error      { return nil }
func (p *played) SetReadDeadline(time.Time) error  { return nil }
func (p *played) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkRead measures the cost of the scanner: answers about 500 keys, and an invalidation of
// 10,000.
func BenchmarkRead(b *testing.B) {
	key := "$27\r\napp:leader:0123456789abcdef\r\n"
	for name, answer := range map[string]string{
		"answers":      strings.Repeat(":30000\r\n:36\r\n$36\r\n0123456789abcdef0123456789abcdef0123\r\n:29999\r\n", 500),
		"invalidation": ">2\r\n$10\r\ninvalidate\r\n*10000\r\n" + strings.Repeat(key, 10_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(answer)))
			p := &played{}
			c := New(p, "h:1", Defaults())
			c.Stream()
			buf := make([]byte, 32<<10)
			for b.Loop() {
				p.pieces = [][]byte{[]byte(answer)}
				for {
					if _, err := c.Read(buf); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
