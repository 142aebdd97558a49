package demo

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"coordtop/internal/backoff"
)

// Installed and NotInstalled begin the last line of the log of who installs the servers.
const (
	Installed    = "coordtop: installed"
	NotInstalled = "coordtop: not installed"
)

// pending is a server that is being installed.
type pending struct {
	port int
	why  atomic.Pointer[error]
}

func (p *pending) say(err error) { p.why.Store(&err) }
func (p *pending) waits() error  { return *p.why.Load() }

// await starts a server and its candidates once it is installed.
func (d *Demo) await(ctx context.Context, i int, b backend, p *pending) {
	for backoff.Sleep(ctx, time.Second/4) == nil {
		text, _ := os.ReadFile(d.options.Installing) // whoever installs makes it, and may not have yet
		before, last := lastLine(string(text))
		switch {
		case strings.HasPrefix(last, NotInstalled):
			_, reason := lastLine(before)
			p.say(fmt.Errorf("%s could not be installed: %s: see %s", b.name, reason, d.options.Installing))
			return
		case strings.HasPrefix(last, Installed):
			s, err := b.start(ctx, p.port)
			if err == nil {
				d.servers[i] = s
				d.startCandidates(ctx, s.URL(), b.contests, d.options.Seed+uint64(i)*seedsApart)
			}
			p.say(err)
			return
		}
	}
}

// lastLine is the last line of a text that ends with one, and what stands before it.
func lastLine(text string) (before, line string) {
	text = strings.TrimRight(text, "\n")
	at := strings.LastIndexByte(text, '\n') + 1
	return text[:at], text[at:]
}
